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
                                     ".sh", ".bash", ".ps1", ".tf", ".snap", ".svg", ".png", ".schema.json", ".test", ".spec", NULL};
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

static bool is_key(weir_str name) {
  static const char *const ends[] = {".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".ppk", ".kdbx", ".kdb", ".p8", ".agekey", ".gpg", ".pgp", ".ovpn", ".mobileprovision", NULL};
  if (any_end(name, ends)) {
    static const char *const open[] = {"public", "pub.", "cert", "chain", "ca.pem", "ca-", "bundle", "root.pem", "dhparam", NULL};
    if (ends_fold(name, ".pem") || ends_fold(name, ".gpg"))
      for (const char *const *w = open; *w; w++)
        if (weir_contains(name, *w)) return false;
    return true;
  }
  static const char *const kinds[] = {"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "identity", "ssh_host_rsa_key", "ssh_host_ed25519_key", "ssh_host_ecdsa_key", "master.key", NULL};
  if (any(name, kinds)) return true;
  return (weir_starts(name, "id_rsa") || weir_starts(name, "id_ed25519") || weir_starts(name, "id_ecdsa") || weir_starts(name, "id_dsa"));
}

/* Files that hold credentials wherever they lie. */
static bool is_store(weir_str name) {
  static const char *const names_[] = {
      ".npmrc", ".yarnrc.yml", ".pypirc", ".netrc", "_netrc", ".dockercfg", ".dockerconfigjson", ".git-credentials", ".gitcredentials", ".vault-token", ".htpasswd", ".pgpass", "pgpass.conf", ".my.cnf",
      ".mylogin.cnf", ".s3cfg", ".boto", ".terraformrc", "terraform.rc", "credentials.tfrc.json", "terraform.tfstate", "terraform.tfstate.backup", "credentials", "credentials.json", "credentials.toml",
      "credentials.yml", "credentials.yaml", "credentials.xml", "credentials.ini", "credentials.csv", "credentials.db", "access_tokens.db", "auth.json", "secrets.yml", "secrets.yaml", "secrets.json",
      "secrets.toml", "secrets.properties", "secrets.ini", "secrets.xml", "secrets.txt", "secret.yml", "secret.yaml", "secret.json", "secret.toml", "secret.txt", "passwords.txt", "password.txt",
      "passwords.csv", "tokens.json", "token.json", "token", "service-account.json", "serviceaccount.json", "service_account.json", "application_default_credentials.json", "keyfile.json", "gcp-key.json",
      "kubeconfig", "kubeconfig.yaml", "kubeconfig.yml", ".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history", ".mysql_history", ".sqlite_history", ".rediscli_history",
      "shadow", "gshadow", "sudoers", "wallet.dat", "logins.json", "key4.db", "login data", "cookies.sqlite", ".pgpassfile", ".rclone.conf", "rclone.conf", ".smbcredentials", ".fetchmailrc", ".msmtprc",
      "keychain.db", ".authinfo", ".authinfo.gpg", "hosts.yml", ".ghtoken", ".gemrc", "nuget.config", "settings-security.xml", ".chef-knife.rb", ".consul-token", ".doctl-token", "oauth_creds.json", NULL};
  if (weir_eq(name, "hosts.yml")) return false; /* GitHub's, below .config/gh: see is_place; ansible's is no secret */
  if (any(name, names_)) return true;
  if ((weir_starts(name, "client_secret") || weir_starts(name, "service-account") || weir_starts(name, "service_account") || weir_starts(name, "firebase-adminsdk")) && ends_fold(name, ".json")) return true;
  if (ends_fold(name, ".tfvars") || ends_fold(name, ".tfvars.json") || ends_fold(name, ".tfstate") || ends_fold(name, "-kubeconfig") || ends_fold(name, ".kubeconfig")) return true;
  /* api-token, db_password.txt: what is called so and is data */
  static const char *const ends[] = {"_secret", "-secret", ".secret", ".secrets", "_token", "-token", ".token", "_password", "-password", ".password", ".passwd", "-credentials", "_credentials", ".credentials",
                                     "-credentials.json", "_credentials.json", "-secrets.yaml", "-secrets.yml", "-secret.yaml", "-secret.yml", "_secrets.json", "-secrets.json", NULL};
  return any_end(name, ends);
}

/* Folders in which credentials lie. */
static bool is_place(weir_str path) {
  static const char *const folders[] = {".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", ".gcloud", ".oci", ".terraform.d", ".secrets", ".1password", NULL};
  weir_str part, before = {0, 0};
  for (size_t at = 0; next_part(path, &at, &part); before = part) {
    if (any(part, folders)) return true;
    if (weir_eq(before, ".config") && (weir_eq(part, "gh") || weir_eq(part, "gcloud") || weir_eq(part, "op") || weir_eq(part, "hub") || weir_eq(part, "doctl") || weir_eq(part, "stripe"))) return true;
    if (weir_eq(part, "secrets") && weir_eq(before, "run")) return true;
    if (weir_eq(part, "private") && weir_eq(before, "ssl")) return true;
    if (weir_eq(part, "gradle.properties") && weir_eq(before, ".gradle")) return true;
    if (weir_eq(part, "settings.xml") && weir_eq(before, ".m2")) return true;
    if (weir_eq(part, "environ") && weir_starts(path, "/proc/")) return true;
  }
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
    if (weir_eq(part, ".pi") || weir_eq(part, ".codex") || (weir_eq(before, ".claude") && weir_starts(part, "settings"))) is |= kOwn;
  }
  if (weir_eq(before, "weir.toml")) is |= kOwn;
  return is;
}

int classify(weir_str path, const names *secret, const names *public_names) {
  int is = of_names(path);
  weir_str name = last_part(path);
  if (listed(name, public_names)) return is;
  if (listed(name, secret)) return is | kSecret;
  if (is_place(path) && !ends_fold(name, ".pub") && !weir_eq(name, "known_hosts")) return is | kSecret;
  if (is_source(name) || is_public(name)) return is;
  if (is_env(name) || is_store(name)) return is | kSecret;
  if (is_key(name) && !is_fixture(path)) return is | kSecret;
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
