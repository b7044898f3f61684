/* A plain Extism module that stops git push, without any kit: what Extism's functions look like from a language that has none.
 * It searches the event's text and reads no JSON, so it also stops a file that mentions git push, and an escape gets past it. */
#include <stdint.h>

#define ENV(name) __attribute__((import_module("extism:host/env"), import_name(#name)))
ENV(input_length) uint64_t input_length(void);
ENV(input_load_u8) uint32_t input_load_u8(uint64_t at);
ENV(alloc) uint64_t alloc(uint64_t length);
ENV(store_u8) void store_u8(uint64_t at, uint32_t byte);
ENV(output_set) void output_set(uint64_t at, uint64_t length);

static int answer(const char *json) {
  uint64_t n = 0;
  while (json[n]) n++;
  uint64_t at = alloc(n); /* memory of the host, which is taken back after the call */
  for (uint64_t i = 0; i < n; i++) store_u8(at + i, (uint8_t)json[i]);
  output_set(at, n);
  return 0;
}

__attribute__((export_name("tool_call"))) int tool_call(void) {
  static const char what[] = "git push";
  uint64_t n = input_length(), matched = 0;
  for (uint64_t i = 0; i < n; i++) {
    char c = (char)input_load_u8(i);
    matched = c == what[matched] ? matched + 1 : c == what[0];
    if (matched == sizeof what - 1) return answer("{\"block\":true,\"reason\":\"push by hand, please\"}");
  }
  return answer("{}");
}
