/* The part of weir-js.wasm that is ours: it gives QuickJS the functions that its build for browsers expects from a page,
   and exports what the weir ABI (version 1) wants from an extension.

   It is linked into QuickJS's own memory. Emscripten leaves the first 1024 bytes of that memory alone; the stack and the
   data of this file live there, so both are tiny: long texts stand in slot.wat's segments, everything else is malloc'd.

   The letters are the names that the emscripten build gave its imports and exports (0.32.0); build-engine.sh checks that
   it links that very file. */
typedef unsigned long long u64;
typedef unsigned u32;
typedef unsigned char u8;
typedef void *js; /* a JSValue on QuickJS's heap */

#define QJS(name) __attribute__((import_module("qjs"), import_name(name))) extern
QJS("u") void qjs_ctors(void);
QJS("v") void *qjs_malloc(u32);
QJS("M") void qjs_free(void *);
QJS("K") void *qjs_new_runtime(void);
QJS("N") void *qjs_new_context(void *rt, int intrinsics);
QJS("D") void qjs_max_stack(void *rt, u32 bytes);
QJS("fa") int qjs_job_pending(void *rt);
QJS("pa") js qjs_eval(void *ctx, const char *text, u32 n, const char *file, int detect_module, int flags);
QJS("na") js qjs_exception(void *ctx, js maybe);
QJS("$") char *qjs_get_string(void *ctx, js v);
QJS("S") void qjs_free_string(void *ctx, char *s);
QJS("_") js qjs_new_string(void *ctx, const char *s);
QJS("X") js qjs_new_buffer(void *ctx, void *bytes, u32 n); /* takes bytes over */
QJS("Y") js qjs_new_number(void *ctx, double n);
QJS("Z") double qjs_get_number(void *ctx, js v);
QJS("Da") js qjs_new_function(void *ctx, const char *name, u32 args, int constructor, u32 id);
QJS("Ea") js qjs_arg(js argv, u32 i);
QJS("ma") js qjs_call(void *ctx, js f, js self, u32 argc, js *argv);
QJS("P") void qjs_free_value(void *ctx, js v);
QJS("E") js qjs_undefined(void);

#define WEIR(name) __attribute__((import_module("extism:host/user"), import_name(name))) extern
WEIR("weir_input_read") u32 weir_input_read(void *p, u32 offset, u32 n);
WEIR("weir_output_write") void weir_output_write(const void *p, u32 n);
WEIR("weir_error") void weir_error(const void *p, u32 n);
WEIR("weir_config_read") u32 weir_config_read(void *p, u32 offset, u32 n);
WEIR("weir_message_read") u32 weir_message_read(u32 index, void *p, u32 offset, u32 n);
WEIR("weir_log") void weir_log(u32 level, const void *p, u32 n);
WEIR("weir_tool_update") void weir_tool_update(const void *p, u32 n);
WEIR("weir_response_read") u32 weir_response_read(void *p, u32 offset, u32 n);
WEIR("weir_kv") int weir_kv(const void *p, u32 n);
WEIR("weir_http") int weir_http(const void *p, u32 n);
WEIR("weir_file") int weir_file(const void *p, u32 n);
WEIR("weir_ui") int weir_ui(const void *p, u32 n);
WEIR("weir_session") int weir_session(const void *p, u32 n);
WEIR("weir_journal") int weir_journal(const void *p, u32 n);

#define WASI(name) __attribute__((import_module("wasi_snapshot_preview1"), import_name(name))) extern
WASI("clock_time_get") u32 wasi_clock(u32 clock, u64 precision, u64 *out);
WASI("random_get") u32 wasi_random(void *p, u32 n);

#define SLOT(name) __attribute__((import_module("slot"), import_name(name))) extern
SLOT("source_size") u32 slot_source_size(void *tmp);
SLOT("source_copy") void slot_source_copy(void *dst, u32 n);
SLOT("prelude_size") u32 slot_prelude_size(void);
SLOT("prelude_copy") void slot_prelude_copy(void *dst);

#define EXPORT(name) __attribute__((export_name(name)))

static void *rt, *ctx;
static js undefined, dispatch;
static u8 seeding;
static char *boot_error; /* why the policy did not start; every entry point says so */

/* ---- what emscripten's page would provide, by the letter ---- */
EXPORT("b") void em_assert_fail(u32 a, u32 b, u32 c, u32 d) { __builtin_trap(); }
EXPORT("c") int em_fd_write(u32 fd, u32 *iov, u32 n, u32 *out) {
  u32 total = 0;
  for (u32 i = 0; i < n; i++) total += iov[2 * i + 1];
  *out = total;
  return 0;
}
EXPORT("d") int em_fd_close(u32 fd) { return 52; }
EXPORT("e") int em_environ_get(u32 a, u32 b) { return 0; }
EXPORT("f") int em_environ_sizes(u32 *n, u32 *size) { *n = 0, *size = 0; return 0; }
EXPORT("g") int em_normalize_module(u32 a, u32 b, u32 c, u32 d) { return 0; }
EXPORT("h") int em_load_module(u32 a, u32 b, u32 c) { return 0; }
EXPORT("i") int em_should_interrupt(u32 a) { return 0; }
EXPORT("j") int em_setitimer(u32 a, double b) { return 0; }
/* Grows by whole MiB: QuickJS asks for a few pages at a time. */
EXPORT("k") int em_resize_heap(u32 want) {
  u32 have = __builtin_wasm_memory_size(0);
  u32 pages = (want >> 16) + 1;
  if (pages <= have) return 1;
  return __builtin_wasm_memory_grow(0, (pages - have + 15) & ~15u) != (u32)-1;
}
EXPORT("l") void em_keepalive(void) {}
EXPORT("m") void em_localtime(u64 t, u32 *tm) { /* only the offset from UTC is looked at */
  for (int i = 0; i < 11; i++) tm[i] = 0;
}
EXPORT("n") void em_tzset(u32 *tz, u32 *daylight, u8 *std, u8 *dst) { *tz = 0, *daylight = 0, *std = 0, *dst = 0; }
EXPORT("o") int em_fd_seek(u32 a, u64 b, u32 c, u32 d) { return 70; }
/* Milliseconds. While a context is made the answer seeds Math.random, so that one is random where the set grants it. */
EXPORT("p") double em_date_now(void) {
  u64 v;
  if (seeding) {
    wasi_random(&v, sizeof v);
    return (double)(v >> 22); /* whole, and small enough for QuickJS to make microseconds of it */
  }
  wasi_clock(0, 1, &v);
  return (double)(v / 1000000);
}
EXPORT("q") void em_abort(void) { __builtin_trap(); }
EXPORT("r") void em_proc_exit(u32 code) { __builtin_trap(); }
EXPORT("t") void em_free_host_ref(u32 a, u32 b) {}

static u32 length(const char *s) {
  u32 n = 0;
  while (s[n]) n++;
  return n;
}

/* Operations of the native function that prelude.js calls as host(op, value). 0 to 3 are the levels of weir_log. */
enum { OP_CONFIG = 4, OP_MESSAGE, OP_UPDATE, OP_KV, OP_HTTP, OP_FILE, OP_UI, OP_SESSION, OP_JOURNAL };

/* A response as a string: '+' and what the capability said, or '-' and why it did not. */
static js response(int code) {
  u32 n = weir_response_read(0, 0, 0);
  char *s = qjs_malloc(n + 2);
  s[0] = code < 0 ? '-' : '+';
  if (n) n = weir_response_read(s + 1, 0, n);
  s[n + 1] = 0;
  js v = qjs_new_string(ctx, s);
  qjs_free(s);
  return v;
}

static js host(u32 op, js value) {
  if (op == OP_CONFIG || op == OP_MESSAGE) {
    u32 index = op == OP_MESSAGE ? (u32)qjs_get_number(ctx, value) : 0;
    u32 n = op == OP_MESSAGE ? weir_message_read(index, 0, 0, 0) : weir_config_read(0, 0, 0);
    char *s = qjs_malloc(n + 1);
    if (n) n = op == OP_MESSAGE ? weir_message_read(index, s, 0, n) : weir_config_read(s, 0, n);
    s[n] = 0;
    js v = qjs_new_string(ctx, s);
    qjs_free(s);
    return v;
  }
  char *s = qjs_get_string(ctx, value);
  u32 n = length(s);
  js v = 0;
  switch (op) {
    case OP_UPDATE: weir_tool_update(s, n); break;
    case OP_KV: v = response(weir_kv(s, n)); break;
    case OP_HTTP: v = response(weir_http(s, n)); break;
    case OP_FILE: v = response(weir_file(s, n)); break;
    case OP_UI: v = response(weir_ui(s, n)); break;
    case OP_SESSION: v = response(weir_session(s, n)); break;
    case OP_JOURNAL: v = response(weir_journal(s, n)); break;
    default: weir_log(op, s, n);
  }
  qjs_free_string(ctx, s);
  return v;
}

/* QuickJS calls a native function. There is one. */
EXPORT("s") js em_call_function(js context, u32 self, u32 argc, js argv, u32 id) {
  return host((u32)qjs_get_number(ctx, qjs_arg(argv, 0)), qjs_arg(argv, 1));
}

/* Frees v and gives its text, or the text of the exception that it is with a '!' before it. The caller frees it. */
static char *text_of(js v) {
  js e = qjs_exception(ctx, v);
  char *s = qjs_get_string(ctx, e ? e : v);
  u32 n = length(s);
  char *out = qjs_malloc(n + 2), *p = out;
  if (e) *p++ = '!';
  for (u32 i = 0; i <= n; i++) p[i] = s[i];
  qjs_free_string(ctx, s);
  qjs_free_value(ctx, e ? e : v);
  return out;
}

/* Calls prelude.js's dispatch and frees value and context, which may be 0. */
static char *run_with(u32 what, js value, js context) {
  js argv[3] = {qjs_new_number(ctx, what), value, context};
  js v = qjs_call(ctx, dispatch, undefined, context ? 3 : 2, argv);
  qjs_free_value(ctx, argv[0]);
  qjs_free_value(ctx, value);
  if (context) qjs_free_value(ctx, context);
  return text_of(v);
}

static char *run(u32 what, js value) { return run_with(what, value, 0); }

/* Whether the bytes at p are the text. */
static int is(const char *p, const char *text) {
  while (*text && *p == *text) p++, text++;
  return !*text;
}

/* Where `,"context":{…}` starts when it is the last key of the event, as in all that the host sends; else 0. Few policies
   look at it, and parsing it is most of the work for a small event. A comma in front of a quote and a key with a colon
   cannot be part of a string. */
static char *context_of(char *b, u32 n) {
  if (n < 32 || b[n - 1] != '}' || b[n - 2] != '}') return 0;
  char *end = b + n - 2, *at = end;
  while (at > b && !(*at == ',' && at[1] == '"' && is(at, ",\"context\":{\"sessionId\":"))) at--;
  if (at == b) return 0;
  u32 depth = 0;
  u8 quoted = 0;
  for (char *p = at + 11; p <= end; p++) {
    if (quoted) {
      if (*p == '\\') p++;
      else if (*p == '"') quoted = 0;
    } else if (*p == '"') quoted = 1;
    else if (*p == '{') depth++;
    else if (*p == '}' && --depth == 0) return p == end ? at : 0;
  }
  return 0;
}

/* What dispatch is asked for beside the entry points, which have the numbers 0 to 39. */
enum { SAY_META = 40, SAY_START, SAY_EXCEPTION, SAY_PENDING };

/* Keeps an error for the entry points to report; everything else of s is freed. */
static int refused(char *s) {
  if (*s == '!') boot_error = s + 1;
  else qjs_free(s);
  return boot_error != 0;
}

/* The source as one block, from the host or else from the slot, ended by NUL; *n is its length. */
static char *source(u32 *n) {
  u32 size = weir_input_read(0, 0, 0);
  if (size) {
    char *s = qjs_malloc(size + 1);
    *n = weir_input_read(s, 0, size);
    s[*n] = 0;
    return s;
  }
  char *s = qjs_malloc(4);
  size = slot_source_size(s);
  qjs_free(s);
  s = qjs_malloc(size + 1);
  if (size) slot_source_copy(s, size);
  s[*n = size] = 0;
  return s;
}

/* The source is a line of JSON that says what it is (see prelude.js), then the script. */
static void start(void) {
  seeding = 1;
  rt = qjs_new_runtime();
  qjs_max_stack(rt, 1 << 20);
  ctx = qjs_new_context(rt, 0);
  seeding = 0;
  undefined = qjs_undefined();

  u32 n = slot_prelude_size();
  char *s = qjs_malloc(n + 1);
  slot_prelude_copy(s);
  s[n] = 0;
  js prelude = qjs_eval(ctx, s, n, "weir", 0, 0);
  qjs_free(s);
  js native = qjs_new_function(ctx, "", 2, 0, 1);
  dispatch = qjs_call(ctx, prelude, undefined, 1, &native);
  qjs_free_value(ctx, native);
  qjs_free_value(ctx, prelude);

  s = source(&n);
  u32 line = 0;
  while (line < n && s[line] != '\n') line++;
  if (line < n) s[line++] = 0;
  if (refused(run(SAY_META, qjs_new_string(ctx, s)))) return;
  enum { STRICT = 1 << 3 };
  js v = qjs_eval(ctx, s + line, n - line, "p", 0, STRICT);
  qjs_free(s);
  js e = qjs_exception(ctx, v);
  if (e) refused(run(SAY_EXCEPTION, e));
  else if (!refused(run(SAY_START, v)) && qjs_job_pending(rt)) refused(run(SAY_PENDING, qjs_undefined()));
}

EXPORT("_initialize") void initialize(void) {
  qjs_ctors();
  start();
  if (boot_error) weir_error(boot_error, length(boot_error));
}

/* QuickJS takes what stands before a NUL for all of a text. */
static const char nul[] = "SyntaxError: a NUL in the event";

static int has_nul(const char *b, u32 n) {
  u32 i = 0;
  for (u64 w; n - i >= sizeof w; i += sizeof w) {
    __builtin_memcpy(&w, b + i, sizeof w);
    if ((w - 0x0101010101010101) & ~w & 0x8080808080808080) return 1;
  }
  for (; i < n; i++) {
    if (!b[i]) return 1;
  }
  return 0;
}

static int entry(u32 what) {
  if (boot_error) {
    weir_error(boot_error, length(boot_error));
    return 1;
  }
  u32 n = weir_input_read(0, 0, 0);
  char *b = qjs_malloc(n + 1);
  if (n) n = weir_input_read(b, 0, n);
  b[n] = 0;
  js input, context = 0;
  if (*b == 'W') { /* the table view of context; JSON does not start with a letter that it could be */
    input = qjs_new_buffer(ctx, b, n);
  } else if (has_nul(b, n)) {
    qjs_free(b);
    weir_error(nul, sizeof nul - 1);
    return 1;
  } else {
    char *at = context_of(b, n);
    if (at) {
      enum { KEY = 11 }; /* ,"context": */
      b[n - 1] = 0;
      context = qjs_new_string(ctx, at + KEY);
      at[0] = '}', at[1] = 0;
    }
    input = qjs_new_string(ctx, b);
    qjs_free(b);
  }
  char *s = run_with(what, input, context);
  if (*s != '!' && qjs_job_pending(rt)) {
    qjs_free(s);
    s = run(SAY_PENDING, qjs_new_number(ctx, what));
  }
  int failed = *s == '!';
  if (failed) weir_error(s + 1, length(s + 1));
  else weir_output_write(s, length(s));
  qjs_free(s);
  return failed;
}

/* The numbers are those of prelude.js. */
#define HOOK(n, name) EXPORT(name) int entry_##n(void) { return entry(n); }
HOOK(0, "project_trust") HOOK(1, "resources_discover") HOOK(2, "session_start") HOOK(3, "session_info_changed")
HOOK(4, "session_before_switch") HOOK(5, "session_before_fork") HOOK(6, "session_before_compact") HOOK(7, "session_compact")
HOOK(8, "session_compact_failed") HOOK(9, "session_shutdown") HOOK(10, "session_before_tree") HOOK(11, "session_tree")
HOOK(12, "context") HOOK(13, "before_provider_headers") HOOK(14, "before_provider_request") HOOK(15, "after_provider_response")
HOOK(16, "before_agent_start") HOOK(17, "agent_start") HOOK(18, "agent_end") HOOK(19, "agent_settled") HOOK(20, "turn_start")
HOOK(21, "turn_end") HOOK(22, "message_start") HOOK(23, "message_update") HOOK(24, "message_end") HOOK(25, "tool_execution_start")
HOOK(26, "tool_execution_update") HOOK(27, "tool_execution_end") HOOK(28, "model_select") HOOK(29, "thinking_level_select")
HOOK(30, "ui_prompt_start") HOOK(31, "ui_prompt_end") HOOK(32, "user_bash") HOOK(33, "input") HOOK(34, "tool_call")
HOOK(35, "tool_result") HOOK(36, "weir_describe") HOOK(37, "tool_execute") HOOK(38, "command_execute") HOOK(39, "decision")
