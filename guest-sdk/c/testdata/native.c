/* The reader compiled for this machine, for sanitizers: documents on standard input, each with a 4-byte length in front. A line a
 * document on standard output: what the guest answered, or "error". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.c"

static char *input;
static uint32_t input_n;

uint32_t weir_host_input_read(void *p, uint32_t offset, uint32_t len) {
  if (!len) return input_n;
  if (offset >= input_n) return 0;
  if (len > input_n - offset) len = input_n - offset;
  memcpy(p, input + offset, len);
  return len;
}
void weir_host_output_write(const void *p, uint32_t len) { printf("%.*s\n", (int)len, (const char *)p); }
void weir_host_error(const void *p, uint32_t len) {
  (void)p;
  (void)len;
  puts("error");
}
void *weir_native_pages(size_t pages) { return malloc(pages << 16); }

int main(void) {
  uint32_t n;
  while (fread(&n, 4, 1, stdin) == 1) {
    input = (char *)malloc(n ? n : 1);
    input_n = n;
    if (fread(input, 1, n, stdin) != n) return 2;
    test_read();
    free(input);
  }
  return 0;
}
