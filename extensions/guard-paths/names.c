/* What a path is by its name. Facts: where tools keep their credentials, from their documentation. */
#include "paths.h"

static bool any(weir_str s, const char *const *list) {
  for (; *list; list++)
    if (weir_eq(s, *list)) return true;
  return false;
}

static bool any_end(weir_str s, const char *const *list) {
  for (; *list; list++)
    if (ends_fold(s, *list) && s.n >= weir_cstr(*list).n) return true;
  return false;
}

static bool listed(weir_str s, const names *list) {
  for (uint32_t i = 0; i < list->n; i++)
    if (matches(list->name[i], s)) return true;
  return false;
}

/* Source, documents, styles: a name in such a file's name says what it is about, not what it holds. */
static bool is_source(weir_str name) {
  static const char *const ends[] = {".go", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".py", ".rb", ".rs", ".java", ".kt", ".swift", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs",
                                     ".php", ".scala", ".clj", ".ex", ".exs", ".erl", ".hs", ".lua", ".md", ".mdx", ".rst", ".adoc", ".html", ".css", ".scss", ".vue", ".svelte", ".proto", ".sql",
                                     ".tf", ".snap", ".svg", ".png", ".schema.json", ".test", ".spec", NULL};
  return any_end(name, ends);
}

/* A template, an example, a public or an encrypted part. */
static bool is_public(weir_str name) {
  static const char *const words[] = {"example", "sample", "template", "schema", "dummy", "mock", "fake", "placeholder", "defaults", NULL};
  for (const char *const *w = words; *w; w++)
    if (weir_contains(name, *w)) return true;
  static const char *const ends[] = {".dist", ".tpl", ".tmpl", ".pub", ".j2", ".erb", NULL};
  return any_end(name, ends);
}

static bool is_env(weir_str name) {
  if (weir_eq(name, ".env") || weir_eq(name, ".envrc") || weir_eq(name, ".flaskenv") || weir_eq(name, ".dev.vars")) return true;
  if (weir_starts(name, ".env.") || weir_starts(name, ".env-") || weir_starts(name, ".env_")) return true;
  return name.n > 4 && ends_fold(name, ".env");
}

static bool holds(weir_str s, const char *const *words) {
  for (; *words; words++)
    if (weir_contains(s, *words)) return true;
  return false;
}

static bool is_key(weir_str path, weir_str name) {
  static const char *const ends[] = {".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".ppk", ".kdbx", ".kdb", ".p8", ".agekey", ".gpg", ".pgp", ".ovpn", "_rsa", "_ed25519", "_ecdsa", NULL};
  static const char *const open[] = {"public", "pub.", "pub_", "pub-", "keyring", NULL};
  static const char *const certificate[] = {"cert", "chain", "ca.pem", "ca-", "bundle", "root.pem", "dhparam", NULL};
  static const char *const slides[] = {"slide", "presentation", "keynote", "talk", "deck", NULL}; /* Keynote's files end in .key as well */
  static const char *const kinds[] = {"identity", "deploy_key", "deploy-key", NULL};
  if (any(name, kinds)) return true;
  if (weir_starts(name, "id_rsa") || weir_starts(name, "id_ed25519") || weir_starts(name, "id_ecdsa") || weir_starts(name, "id_dsa") || (weir_starts(name, "ssh_host_") && ends_fold(name, "_key"))) return true;
  if (!any_end(name, ends) || holds(name, open)) return false;
  if (ends_fold(name, ".pem") && holds(name, certificate) && !weir_contains(name, "key")) return false;
  return !(ends_fold(name, ".key") && holds(path, slides));
}

/* Files that hold credentials wherever they lie. */
static bool is_store(weir_str name) {
  static const char *const names_[] = {
      ".npmrc", ".pypirc", ".netrc", "_netrc", ".dockercfg", ".dockerconfigjson", ".git-credentials", ".gitcredentials", ".vault-token", ".htpasswd", ".pgpass", "pgpass.conf", ".my.cnf",
      ".mylogin.cnf", ".s3cfg", ".boto", ".terraformrc", "terraform.rc", "credentials.tfrc.json", "terraform.tfstate", "terraform.tfstate.backup", "credentials", "credentials.json", "credentials.toml",
      "credentials.yml", "credentials.yaml", "credentials.xml", "credentials.ini", "credentials.csv", "credentials.db", "access_tokens.db", "auth.json", "secrets.yml", "secrets.yaml", "secrets.json",
      "secrets.toml", "secrets.properties", "secrets.ini", "secrets.xml", "secrets.txt", "secret.yml", "secret.yaml", "secret.json", "secret.toml", "secret.txt", "passwords.txt", "password.txt",
      "passwords.csv", "token.json", "token", "service-account.json", "serviceaccount.json", "service_account.json", "application_default_credentials.json", "keyfile.json", "gcp-key.json",
      "kubeconfig", "kubeconfig.yaml", "kubeconfig.yml", ".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history", ".mysql_history", ".sqlite_history", ".rediscli_history",
      "wallet.dat", "logins.json", "key4.db", "login data", "cookies.sqlite", ".pgpassfile", ".rclone.conf", "rclone.conf", ".smbcredentials", ".fetchmailrc", ".msmtprc",
      "keychain.db", ".authinfo", ".authinfo.gpg", ".ghtoken", "settings-security.xml", ".chef-knife.rb", ".consul-token", ".doctl-token", "oauth_creds.json", ".vault_pass", ".vault_password", ".vault-password", "vault_pass.txt", ".secrets.toml", ".secrets.yaml",
      ".secrets.yml", ".secrets.json", NULL};
  if (any(name, names_)) return true;
  if ((weir_starts(name, "client_secret") || weir_starts(name, "service-account") || weir_starts(name, "service_account") || weir_starts(name, "firebase-adminsdk")) && ends_fold(name, ".json")) return true;
  if (ends_fold(name, ".tfvars") || ends_fold(name, ".tfvars.json") || ends_fold(name, ".tfstate") || ends_fold(name, "-kubeconfig") || ends_fold(name, ".kubeconfig")) return true;
  /* api-token, db_password.txt: what is called so and is data */
  static const char *const ends[] = {"_secret", "-secret", ".secret", ".secrets", "_token", "-token", ".token", "_password", "-password", ".password", ".passwd", "-credentials", "_credentials", ".credentials",
                                     "-credentials.json", "_credentials.json", "-secrets.yaml", "-secrets.yml", "-secret.yaml", "-secret.yml", "_secrets.json", "-secrets.json", NULL};
  return any_end(name, ends);
}

/* Folders in which credentials lie. Outside of the workspace (an absolute path) more of them are known: there a folder of that
 * name is the tool's own, while a project may keep other things under it. */
static bool is_place(weir_str path) {
  static const char *const folders[] = {".ssh", ".gnupg", ".password-store", ".secrets", ".1password", NULL};
  static const char *const outside[] = {".aws", ".azure", ".kube", ".docker", ".gcloud", ".oci", ".terraform.d", NULL};
  static const char *const tools[] = {"gh", "gcloud", "op", "hub", "doctl", "stripe", NULL};
  static const struct {
    const char *folder, *file;
  } pairs[] = {{".aws", "credentials"}, {".aws", "config"}, {".kube", "config"}, {".docker", "config.json"}, {".gradle", "gradle.properties"}, {".m2", "settings.xml"}, {".cargo", "credentials"}, {".azure", "accesstokens.json"}};
  bool absolute = path.n && path.p[0] == '/';
  weir_str part, before = {0, 0};
  for (size_t at = 0; next_part(path, &at, &part); before = part) {
    if (any(part, folders) || (absolute && any(part, outside))) return true;
    if (weir_eq(before, ".config") && any(part, tools)) return true;
    if (absolute && ((weir_eq(part, "secrets") && weir_eq(before, "run")) || (weir_eq(part, "private") && weir_eq(before, "ssl")) || (weir_eq(part, "environ") && weir_starts(path, "/proc/")))) return true;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
      if (weir_eq(before, pairs[i].folder) && weir_eq(part, pairs[i].file)) return true;
  }
  return false;
}

/* A folder of the project that is called so, and what lies in it is data. */
static bool in_secrets(weir_str path, weir_str name) {
  weir_str part;
  if (weir_starts(name, ".git") || weir_starts(name, "readme")) return false;
  for (size_t at = 0; next_part(path, &at, &part) && part.p != name.p;)
    if (weir_eq(part, "secrets") || weir_eq(part, "credentials")) return true;
  return false;
}

/* Words for people, and descriptions of data. */
static bool is_words(weir_str path) {
  static const char *const folders[] = {"i18n", "l10n", "locales", "locale", "lang", "langs", "translations", "messages", "docs", "schemas", "schema", "__snapshots__", NULL};
  weir_str part;
  for (size_t at = 0; next_part(path, &at, &part);)
    if (any(part, folders)) return true;
  return false;
}

/* Invented keys that tests need. */
static bool is_fixture(weir_str path) {
  static const char *const folders[] = {"fixtures", "__fixtures__", "testdata", "test-data", "test_data", "testfixtures", NULL};
  weir_str part;
  for (size_t at = 0; next_part(path, &at, &part);)
    if (any(part, folders)) return true;
  return false;
}

static int of_names(weir_str path) {
  int is = 0;
  weir_str part, before = {0, 0}, two = {0, 0};
  for (size_t at = 0; next_part(path, &at, &part); two = before, before = part) {
    if (weir_eq(part, ".git")) is |= kGit;
    if (weir_eq(part, ".weir")) is |= kOwn;
    if (weir_eq(two, "extensions") && weir_eq(before, "dist") && ends_fold(part, ".wasm")) is |= kOwn;
    if (weir_eq(before, ".config") && weir_eq(part, "weir")) is |= kOwn;
    /* What agents of the same machine may do, and run before and after. */
    if (weir_eq(part, ".pi") || weir_eq(part, ".codex") || (weir_eq(before, ".claude") && weir_starts(part, "settings"))) is |= kAgent;
  }
  if (weir_eq(before, "weir.toml")) is |= two.n ? kAgent : kOwn; /* deeper down it is perhaps an example */
  return is;
}

int classify(weir_str path, const names *secret, const names *public_names) {
  int is = of_names(path);
  weir_str name = last_part(path);
  if (listed(name, public_names)) return is;
  if (listed(name, secret)) return is | kSecret;
  if (is_place(path) && !ends_fold(name, ".pub") && !weir_eq(name, "known_hosts")) return is | kSecret;
  if (is_source(name) || is_public(name)) return is;
  if (is_env(name)) return is | kSecret;
  if ((is_store(name) || in_secrets(path, name)) && !is_words(path)) return is | kSecret;
  if (is_key(path, name) && !is_fixture(path)) return is | kSecret;
  return is;
}

static bool name_char(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; }

/* unusual says what is odd about an argument as it was written, NULL if nothing is. */
const char *unusual(weir_str s) {
  if (!s.n) return NULL;
  for (size_t i = 0; i < s.n; i++) {
    unsigned char c = (unsigned char)s.p[i];
    if (c < 0x20 || c == 0x7f) return "the path holds a control character";
    if (c == 0xe2 && i + 2 < s.n && (unsigned char)s.p[i + 1] == 0x80 && (unsigned char)s.p[i + 2] >= 0xaa && (unsigned char)s.p[i + 2] <= 0xae)
      return "the path holds a mark that changes the direction of writing";
  }
  static const char *const unseen[] = {"\xe2\x80\x8b", "\xe2\x81\xa0", "\xef\xbb\xbf", "\xc2\xad", NULL}; /* zero-width space, joiner, mark; soft hyphen */
  if (holds(s, unseen)) return "the path holds a character that cannot be seen";
  if (mixes_scripts(s)) return "a word of the path mixes letters of two scripts";
  size_t tick = weir_find(s, WEIR_S("`"), 0);
  if (tick != (size_t)-1 && weir_find(s, WEIR_S("`"), tick + 1) != (size_t)-1) return "it holds a command that nothing runs";
  size_t scheme = weir_find(s, WEIR_S("://"), 0);
  if (scheme != (size_t)-1 && scheme > 1 && scheme < 16) {
    bool plain = true;
    for (size_t i = 0; i < scheme; i++) plain = plain && (name_char(s.p[i]) || s.p[i] == '+' || s.p[i] == '.');
    if (plain) return "it is an address, not a path";
  }
  if (weir_starts(s, "file:/")) return "it is an address, not a path";
  if (weir_contains(s, "${") || weir_contains(s, "$(") || weir_contains(s, "$env:")) return "it holds a variable that nothing expands";
  if (s.p[0] == '$') {
    size_t i = 1;
    while (i < s.n && ((s.p[i] >= 'A' && s.p[i] <= 'Z') || s.p[i] == '_')) i++;
    if (i > 2 && (i == s.n || s.p[i] == '/')) return "it holds a variable that nothing expands";
  }
  if (s.p[0] == '%' && s.n > 3) {
    size_t i = 1;
    while (i < s.n && ((s.p[i] >= 'A' && s.p[i] <= 'Z') || s.p[i] == '_')) i++;
    if (i > 2 && i < s.n && s.p[i] == '%') return "it holds a variable that nothing expands";
  }
  if (s.p[0] == '~' && s.n > 1 && s.p[1] != '/') {
    size_t i = 1;
    while (i < s.n && name_char(s.p[i])) i++;
    if (i > 1 && (i == s.n || s.p[i] == '/')) return "it names another user's home folder";
  }
  if (s.n > 2 && s.p[1] == ':' && (s.p[2] == '\\' || s.p[2] == '/') && name_char(s.p[0])) return "it is a path of another system";
  if (weir_starts(s, "\\\\")) return "it is a path of another system";
  return NULL;
}
