/* A policy whose event is parsed as JSON, for the benchmarks: it blocks commands that hold "rm -rf /". Built twice from this
 * source, so that hosts are compared on the same work:
 *
 *   make          policy.wasm (weir's functions) and policy_extism.wasm (Extism's env, for hosts that know nothing else)
 */
#ifdef EXTISM
#define WEIR_NATIVE
#endif
#include "../../../guest-sdk/c/weir.h"

#ifdef EXTISM
#define ENV(name) __attribute__((import_module("extism:host/env"), import_name(name))) extern
ENV("input_length") uint64_t env_input_length(void);
ENV("input_load_u64") uint64_t env_input_load_u64(uint64_t offset);
ENV("input_load_u8") uint32_t env_input_load_u8(uint64_t offset);
ENV("alloc") uint64_t env_alloc(uint64_t n);
ENV("store_u64") void env_store_u64(uint64_t offset, uint64_t v);
ENV("store_u8") void env_store_u8(uint64_t offset, uint32_t v);
ENV("output_set") void env_output_set(uint64_t offset, uint64_t n);
ENV("error_set") void env_error_set(uint64_t offset);

uint32_t weir_host_input_read(void *ptr, uint32_t offset, uint32_t len) {
  uint32_t total = (uint32_t)env_input_length(), n = total - offset < len ? total - offset : len, i = 0;
  if (len == 0) return total;
  for (; i + 8 <= n; i += 8) {
    uint64_t w = env_input_load_u64(offset + i);
    __builtin_memcpy((char *)ptr + i, &w, 8);
  }
  for (; i < n; i++) ((unsigned char *)ptr)[i] = (unsigned char)env_input_load_u8(offset + i);
  return n;
}

static uint64_t block(const void *ptr, uint32_t len) {
  uint64_t at = env_alloc(len);
  uint32_t i = 0;
  for (; i + 8 <= len; i += 8) {
    uint64_t w;
    __builtin_memcpy(&w, (const char *)ptr + i, 8);
    env_store_u64(at + i, w);
  }
  for (; i < len; i++) env_store_u8(at + i, ((const unsigned char *)ptr)[i]);
  return at;
}

void weir_host_output_write(const void *ptr, uint32_t len) { env_output_set(block(ptr, len), len); }
void weir_host_error(const void *ptr, uint32_t len) { env_error_set(block(ptr, len)); }

void *weir_native_pages(size_t pages) {
  size_t before = __builtin_wasm_memory_grow(0, pages);
  return before == (size_t)-1 ? 0 : (void *)(before << 16);
}

/* weir.h brings its own only where it is the guest's whole library. */
#define LIBC(fn) __attribute__((no_builtin(fn)))
LIBC("memcpy") void *memcpy(void *d, const void *s, size_t n) {
  for (size_t i = 0; i < n; i++) ((char *)d)[i] = ((const char *)s)[i];
  return d;
}
LIBC("memmove") void *memmove(void *d, const void *s, size_t n) {
  if (d < s) return memcpy(d, s, n);
  while (n--) ((char *)d)[n] = ((const char *)s)[n];
  return d;
}
LIBC("memcmp") int memcmp(const void *a, const void *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (((const unsigned char *)a)[i] != ((const unsigned char *)b)[i]) return ((const unsigned char *)a)[i] - ((const unsigned char *)b)[i];
  return 0;
}
LIBC("strlen") size_t strlen(const char *s) {
  size_t n = 0;
  while (s[n]) n++;
  return n;
}

int weir__export_tool_call(void);
__attribute__((export_name("tool_call"))) int export_tool_call(void) { return weir__export_tool_call(); }
#endif

WEIR_ON(tool_call) {
  weir_str command = weir_get_string(weir_get(ev, "input"), "command");
  if (weir_contains(command, "rm -rf /")) return weir_block("that removes everything");
  return weir_allow();
}
