/* guard-paths: what its files share. */
#ifndef GUARD_PATHS_H
#define GUARD_PATHS_H

#include "../../guest-sdk/c/weir.h"

/* What a path is by its name, as bits. */
enum { kSecret = 1, kGit = 2, kOwn = 4, kAgent = 8 };

/* A list of names or *-patterns from the settings. */
enum { kMostNames = 64 };
typedef struct {
  weir_str name[kMostNames];
  uint32_t n;
} names;

/* text.c */
bool matches(weir_str pattern, weir_str s);
bool equals_fold(weir_str s, const char *lower);
bool ends_fold(weir_str s, const char *lower);
bool within(weir_str path, weir_str folder);
bool next_part(weir_str path, size_t *at, weir_str *part);
weir_str last_part(weir_str path);
weir_str fold(weir_str path);
bool mixes_scripts(weir_str s);
bool climbs_out(weir_str path);

/* names.c */
int classify(weir_str path, const names *secret, const names *public_names);
const char *unusual(weir_str raw);

#endif
