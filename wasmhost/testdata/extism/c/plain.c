// A plain Extism module without a development kit: Extism's functions as they are. Its exports are those of the other languages beside it.
#include <stdint.h>

#define ENV(name) __attribute__((import_module("extism:host/env"), import_name(#name)))
#define EXPORT(name) __attribute__((export_name(#name)))

ENV(alloc) uint64_t alloc(uint64_t n);
ENV(free) void release(uint64_t at);
ENV(length) uint64_t length(uint64_t at);
ENV(length_unsafe) uint64_t length_unsafe(uint64_t at);
ENV(load_u8) uint32_t load_u8(uint64_t at);
ENV(load_u64) uint64_t load_u64(uint64_t at);
ENV(store_u8) void store_u8(uint64_t at, uint32_t v);
ENV(store_u64) void store_u64(uint64_t at, uint64_t v);
ENV(input_length) uint64_t input_length(void);
ENV(input_offset) uint64_t input_offset(void);
ENV(input_load_u8) uint32_t input_load_u8(uint64_t at);
ENV(input_load_u64) uint64_t input_load_u64(uint64_t at);
ENV(output_set) void output_set(uint64_t at, uint64_t n);
ENV(error_set) void error_set(uint64_t at);
ENV(config_get) uint64_t config_get(uint64_t key);
ENV(var_get) uint64_t var_get(uint64_t key);
ENV(var_set) void var_set(uint64_t key, uint64_t value);
ENV(log_trace) void log_trace(uint64_t at);
ENV(log_debug) void log_debug(uint64_t at);
ENV(log_info) void log_info(uint64_t at);
ENV(log_warn) void log_warn(uint64_t at);
ENV(log_error) void log_error(uint64_t at);
ENV(get_log_level) uint32_t get_log_level(void);

static uint64_t block(const char *s) {
	uint64_t n = 0;
	while (s[n]) n++;
	uint64_t at = alloc(n);
	for (uint64_t i = 0; i < n; i++) store_u8(at + i, (uint8_t)s[i]);
	return at;
}

static uint64_t input(void) {
	uint64_t n = input_length(), at = alloc(n), i = 0;
	for (; i + 8 <= n; i += 8) store_u64(at + i, input_load_u64(i));
	for (; i < n; i++) store_u8(at + i, input_load_u8(i));
	return at;
}

static void output(uint64_t at) { output_set(at, length(at)); }

EXPORT(echo) int32_t echo(void) {
	output_set(input_offset(), input_length());
	return 0;
}

// The value of the setting that the input names, or nothing.
EXPORT(settings) int32_t settings(void) {
	uint64_t value = config_get(input());
	if (value && length_unsafe(value) == length(value)) output(value);
	return 0;
}

// Keeps the input in a variable and gives what was there.
EXPORT(counter) int32_t counter(void) {
	uint64_t before = var_get(block("last"));
	if (before) output(before);
	var_set(block("last"), input());
	return 0;
}

EXPORT(forget) int32_t forget(void) {
	var_set(block("last"), 0);
	var_set(block("never set"), 0);
	output(block(var_get(block("last")) ? "still there" : "gone"));
	return 0;
}

EXPORT(logs) int32_t logs(void) {
	log_trace(block("trace"));
	log_debug(input());
	log_info(block("info"));
	log_warn(block("warn \xc3\xa9"));
	log_error(block("error"));
	uint64_t at = alloc(1);
	store_u8(at, '0' + get_log_level());
	output(at);
	return 0;
}

EXPORT(fails) int32_t fails(void) {
	if (!input_length()) return 3;
	output(block("an output that must not count"));
	error_set(input());
	return 0;
}

// The input backwards, and behind it how long blocks are that are none.
EXPORT(bytes) int32_t bytes(void) {
	uint64_t n = input_length(), at = alloc(n + 2), freed = block("12345678");
	for (uint64_t i = 0; i < n; i++) store_u8(at + i, input_load_u8(n - 1 - i));
	uint64_t eight = load_u64(freed);
	release(freed);
	store_u8(at + n, '0' + (uint32_t)length(freed));
	store_u8(at + n + 1, eight == 0x3837363534333231 && load_u8(at) == input_load_u8(n - 1) ? '!' : '?');
	output(at);
	return 0;
}
