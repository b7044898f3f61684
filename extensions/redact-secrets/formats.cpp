// Token formats with a spelling of their own. Facts from the issuers' documentation.
#include "secrets.hpp"

namespace {

// What a token is made of: A letters and digits, U capitals and digits, H hex, W A and _, D W and -, X D and ., B base64, S W and / and -.
struct Format {
  const char *kind, *prefix;
  char set;
  uint16_t min, max; // length behind the prefix; max 0: open
};
const Format kFormats[] = {
    {"aws-access-key", "AKIA", 'U', 16, 16},
    {"aws-access-key", "ASIA", 'U', 16, 16},
    {"aws-access-key", "ABIA", 'U', 16, 16},
    {"aws-access-key", "ACCA", 'U', 16, 16},
    {"aws-session-token", "IQoJb3JpZ2lu", 'B', 60, 0},
    {"aws-session-token", "FwoGZXIvYXdz", 'B', 60, 0},
    {"aws-session-token", "FQoGZXIvYXdz", 'B', 60, 0},
    {"aws-bedrock-key", "ABSK", 'B', 100, 0},
    {"github-token", "ghp_", 'A', 36, 255},
    {"github-token", "gho_", 'A', 36, 255},
    {"github-token", "ghu_", 'A', 36, 255},
    {"github-token", "ghs_", 'A', 36, 255},
    {"github-token", "ghr_", 'A', 36, 255},
    {"github-token", "github_pat_", 'W', 36, 255},
    {"gitlab-token", "glpat-", 'X', 20, 0},
    {"gitlab-token", "gldt-", 'D', 20, 0},
    {"gitlab-token", "glrt-", 'X', 20, 0},
    {"gitlab-token", "glrtr-", 'D', 20, 0},
    {"gitlab-token", "glcbt-", 'D', 20, 0},
    {"gitlab-token", "glptt-", 'D', 20, 0},
    {"gitlab-token", "glft-", 'D', 20, 0},
    {"gitlab-token", "glsoat-", 'D', 20, 0},
    {"gitlab-token", "glimt-", 'D', 20, 0},
    {"gitlab-token", "glagent-", 'D', 20, 0},
    {"gitlab-token", "gloas-", 'D', 20, 0},
    {"gitlab-token", "glffct-", 'D', 20, 0},
    {"gitlab-token", "GR1348941", 'D', 20, 0},
    {"slack-token", "xoxb-", 'D', 20, 0},
    {"slack-token", "xoxp-", 'D', 20, 0},
    {"slack-token", "xoxa-", 'D', 20, 0},
    {"slack-token", "xoxr-", 'D', 20, 0},
    {"slack-token", "xoxs-", 'D', 20, 0},
    {"slack-token", "xoxo-", 'D', 20, 0},
    {"slack-token", "xoxc-", 'D', 20, 0},
    {"slack-token", "xoxd-", 'D', 20, 0},
    {"slack-token", "xoxe-", 'D', 20, 0},
    {"slack-token", "xoxe.xox", 'X', 20, 0},
    {"slack-token", "xapp-", 'D', 20, 0},
    {"slack-token", "xwfp-", 'D', 20, 0},
    {"slack-webhook", "https://hooks.slack.com/services/", 'S', 20, 0},
    {"slack-webhook", "https://hooks.slack.com/workflows/", 'S', 20, 0},
    {"slack-webhook", "https://hooks.slack.com/triggers/", 'S', 20, 0},
    {"discord-webhook", "https://discord.com/api/webhooks/", 'S', 30, 0},
    {"discord-webhook", "https://discordapp.com/api/webhooks/", 'S', 30, 0},
    {"stripe-key", "sk_live_", 'A', 16, 0},
    {"stripe-key", "rk_live_", 'A', 16, 0},
    {"stripe-key", "sk_test_", 'A', 16, 0},
    {"stripe-key", "rk_test_", 'A', 16, 0},
    {"stripe-key", "sk_org_", 'W', 16, 0},
    {"stripe-webhook", "whsec_", 'B', 24, 0},
    {"anthropic-key", "sk-ant-", 'D', 24, 0},
    {"openrouter-key", "sk-or-", 'D', 24, 0},
    {"openai-key", "sk-proj-", 'D', 24, 0},
    {"openai-key", "sk-svcacct-", 'D', 24, 0},
    {"openai-key", "sk-admin-", 'D', 24, 0},
    {"openai-key", "sk-None-", 'D', 24, 0},
    {"langfuse-key", "sk-lf-", 'D', 30, 0},
    {"openai-key", "sk-", 'A', 32, 0}, // also DeepSeek and others that took the prefix over
    {"google-api-key", "AIza", 'D', 35, 35},
    {"google-oauth-token", "ya29.", 'X', 20, 0},
    {"google-oauth-secret", "GOCSPX-", 'D', 20, 0},
    {"google-refresh-token", "1//0", 'D', 30, 0},
    {"npm-token", "npm_", 'A', 36, 0},
    {"pypi-token", "pypi-Ag", 'D', 50, 0},
    {"rubygems-key", "rubygems_", 'H', 48, 48},
    {"crates-token", "cio", 'A', 32, 32},
    {"nuget-key", "oy2", 'A', 43, 43},
    {"docker-token", "dckr_pat_", 'D', 20, 0},
    {"docker-token", "dckr_oat_", 'D', 20, 0},
    {"sendgrid-key", "SG.", 'X', 50, 0},
    {"sendinblue-key", "xkeysib-", 'D', 40, 0},
    {"sendinblue-key", "xsmtpsib-", 'D', 40, 0},
    {"mailgun-key", "key-", 'H', 32, 32},
    {"twilio-key", "SK", 'H', 32, 32},
    {"shopify-token", "shpat_", 'H', 32, 32},
    {"shopify-token", "shpca_", 'H', 32, 32},
    {"shopify-token", "shppa_", 'H', 32, 32},
    {"shopify-token", "shpss_", 'H', 32, 32},
    {"huggingface-token", "hf_", 'A', 30, 0},
    {"huggingface-token", "api_org_", 'A', 30, 0},
    {"replicate-token", "r8_", 'A', 30, 0},
    {"xai-key", "xai-", 'A', 40, 0},
    {"groq-key", "gsk_", 'A', 40, 0},
    {"perplexity-key", "pplx-", 'A', 40, 0},
    {"nvidia-key", "nvapi-", 'D', 40, 0},
    {"fireworks-key", "fw_", 'A', 24, 0},
    {"together-key", "tgp_v1_", 'D', 30, 0},
    {"cerebras-key", "csk-", 'A', 40, 0},
    {"langsmith-key", "lsv2_", 'W', 40, 0},
    {"tavily-key", "tvly-", 'D', 24, 0},
    {"vault-token", "hvs.", 'D', 20, 0},
    {"vault-token", "hvb.", 'D', 20, 0},
    {"vault-token", "hvr.", 'D', 20, 0},
    {"doppler-token", "dp.pt.", 'X', 30, 0},
    {"doppler-token", "dp.st.", 'X', 30, 0},
    {"doppler-token", "dp.ct.", 'X', 30, 0},
    {"doppler-token", "dp.sa.", 'X', 30, 0},
    {"doppler-token", "dp.scim.", 'X', 30, 0},
    {"heroku-key", "HRKU-", 'D', 36, 0},
    {"planetscale-token", "pscale_tkn_", 'X', 30, 0},
    {"planetscale-token", "pscale_pw_", 'X', 30, 0},
    {"planetscale-token", "pscale_oauth_", 'X', 30, 0},
    {"databricks-token", "dapi", 'H', 32, 34},
    {"digitalocean-token", "dop_v1_", 'H', 64, 64},
    {"digitalocean-token", "doo_v1_", 'H', 64, 64},
    {"digitalocean-token", "dor_v1_", 'H', 64, 64},
    {"grafana-token", "glsa_", 'W', 36, 0},
    {"grafana-token", "glc_", 'B', 32, 0},
    {"newrelic-key", "NRAK-", 'U', 27, 0},
    {"newrelic-key", "NRII-", 'D', 30, 0},
    {"newrelic-key", "NRJS-", 'A', 19, 0},
    {"sentry-token", "sntrys_", 'S', 40, 0},
    {"sentry-token", "sntryu_", 'H', 64, 64},
    {"dynatrace-token", "dt0c01.", 'X', 60, 0},
    {"dynatrace-token", "dt0s16.", 'X', 60, 0},
    {"honeycomb-key", "hcaik_", 'A', 40, 0},
    {"linear-key", "lin_api_", 'A', 32, 0},
    {"linear-key", "lin_oauth_", 'A', 32, 0},
    {"notion-token", "ntn_", 'A', 40, 0},
    {"notion-token", "secret_", 'A', 43, 43},
    {"figma-token", "figd_", 'D', 30, 0},
    {"atlassian-token", "ATATT3", 'E', 60, 0},
    {"atlassian-token", "ATCTT3", 'E', 60, 0},
    {"atlassian-token", "ATBB", 'A', 28, 0},
    {"postman-key", "PMAK-", 'D', 40, 0},
    {"airtable-token", "pat", 'Y', 79, 79}, // 14 characters, a dot, 64 hex
    {"sonar-token", "sqp_", 'H', 40, 40},
    {"sonar-token", "squ_", 'H', 40, 40},
    {"sonar-token", "sqa_", 'H', 40, 40},
    {"dropbox-token", "sl.", 'D', 60, 0},
    {"square-token", "sq0atp-", 'D', 22, 0},
    {"square-token", "sq0csp-", 'D', 40, 0},
    {"square-token", "EAAA", 'D', 60, 0},
    {"paypal-token", "access_token$production$", 'Z', 40, 0},
    {"mapbox-token", "sk.eyJ", 'X', 40, 0},
    {"age-key", "AGE-SECRET-KEY-1", 'U', 50, 0},
    {"fly-token", "FlyV1 ", 'F', 40, 0},
    {"fly-token", "fo1_", 'D', 40, 0},
    {"fly-token", "fm2_", 'B', 40, 0},
    {"supabase-key", "sbp_", 'H', 40, 0},
    {"supabase-key", "sb_secret_", 'D', 24, 0},
    {"onepassword-token", "ops_eyJ", 'B', 60, 0},
    {"netlify-token", "nfp_", 'A', 36, 0},
    {"pulumi-token", "pul-", 'H', 40, 40},
    {"prefect-key", "pnu_", 'A', 36, 36},
    {"clojars-token", "CLOJARS_", 'A', 60, 0},
    {"easypost-key", "EZAK", 'A', 54, 0},
    {"easypost-key", "EZTK", 'A', 54, 0},
    {"typeform-token", "tfp_", 'X', 40, 0},
    {"contentful-token", "CFPAT-", 'D', 40, 0},
    {"buildkite-token", "bkua_", 'A', 40, 0},
    {"circleci-token", "CCIPAT_", 'W', 40, 0},
    {"circleci-token", "CCIPRJ_", 'W', 40, 0},
    {"artifactory-token", "cmVmdGtu", 'A', 56, 0},
    {"artifactory-token", "AKCp", 'A', 65, 0},
    {"readme-key", "rdme_", 'A', 60, 0},
    {"vercel-token", "vcp_", 'A', 24, 0},
    {"vercel-token", "vercel_blob_rw_", 'W', 30, 0},
    {"neon-key", "napi_", 'A', 40, 0},
    {"resend-key", "re_", 'W', 30, 0},
    {"cloudflare-key", "v1.0-", 'D', 140, 0},
    {"tailscale-key", "tskey-", 'D', 24, 0},
    {"okta-token", "SSWS ", 'D', 40, 0},
    {"telegram-token", "bot", 'T', 40, 0}, // in the address of its API
    {"private-key", "LS0tLS1CRUdJTi", 'B', 80, 0}, // base64 of -----BEGIN …
    {"django-secret", "django-insecure-", 'P', 30, 0},
    {"facebook-token", "EAAC", 'A', 80, 0},
    {"yandex-key", "AQVN", 'D', 35, 0},
    {"alibaba-key", "LTAI", 'A', 16, 24},
    {"hubspot-token", "pat-na1-", 'D', 36, 36},
    {"hubspot-token", "pat-eu1-", 'D', 36, 36},
    {"lob-key", "live_pub_", 'H', 30, 0},
    {"intra42-key", "s-s4t2ud-", 'H', 64, 64},
    {"adafruit-key", "aio_", 'A', 28, 28},
    {"duffel-token", "duffel_live_", 'D', 40, 0},
    {"frameio-token", "fio-u-", 'D', 64, 0},
    {"infracost-key", "ico-", 'A', 32, 32},
    {"plaid-token", "access-production-", 'D', 36, 0},
    {"shippo-token", "shippo_live_", 'H', 40, 40},
    {"scalingo-token", "tk-us-", 'D', 48, 0},
    {"openshift-token", "sha256~", 'D', 43, 43},
};

bool inSet(char c, char set) {
  switch (set) {
  case 'A': return isAlnum(c);
  case 'U': return isUpper(c) || isDigit(c);
  case 'H': return isHex(c);
  case 'W': return isWord(c);
  case 'D': return isWord(c) || c == '-';
  case 'X': case 'Y': return isWord(c) || c == '-' || c == '.';
  case 'B': return isBase64(c);
  case 'E': return isWord(c) || c == '-' || c == '=';
  case 'S': return isWord(c) || c == '-' || c == '/' || c == '+' || c == '=';
  case 'Z': return isWord(c) || c == '$';
  case 'F': return isBase64(c) || c == '_' || c == ',';
  case 'T': return isWord(c) || c == '-' || c == ':';
  case 'P': return c > ' ' && c < 0x7f && c != '"' && c != '\'' && c != '`' && c != ',' && c != '\\';
  }
  return false;
}

uint32_t run(Str t, uint32_t i, char set, uint32_t max) {
  uint32_t b = i;
  while (i < t.n && i - b < max && inSet(t.p[i], set)) i++;
  return i;
}

// JWT: three base64url parts, the first two of them JSON objects.
uint32_t jwt(Str t, uint32_t i) {
  uint32_t a = run(t, i, 'D', 4096);
  if (a - i < 10 || !startsAt(t, a, ".eyJ")) return 0;
  uint32_t b = run(t, a + 1, 'D', 65536);
  if (b - a < 10 || b >= t.n || t.p[b] != '.') return 0;
  uint32_t c = run(t, b + 1, 'D', 65536);
  return c - b < 10 ? 0 : c;
}
// A Telegram bot's token: number, colon, 35 characters.
uint32_t telegram(Str t, uint32_t i) {
  uint32_t a = i;
  while (a < t.n && isDigit(t.p[a])) a++;
  if (a - i < 8 || a - i > 10 || !startsAt(t, a, ":AA")) return 0;
  uint32_t b = run(t, a + 1, 'D', 60);
  return b - a - 1 >= 32 && b - a - 1 <= 40 ? b : 0;
}
// A Discord bot's token: the user's number in base64, a time, a signature.
uint32_t discord(Str t, uint32_t i) {
  uint32_t a = run(t, i, 'D', 40);
  if (a - i < 23 || a - i > 28 || a >= t.n || t.p[a] != '.') return 0;
  uint32_t b = run(t, a + 1, 'D', 10);
  if (b - a - 1 != 6 || b >= t.n || t.p[b] != '.') return 0;
  uint32_t c = run(t, b + 1, 'D', 60);
  return c - b - 1 >= 27 && c - b - 1 <= 40 ? c : 0;
}
// Mailchimp: 32 hex digits and the data centre. 33 characters and more after it would be another thing.
uint32_t mailchimp(Str t, uint32_t i) {
  uint32_t a = run(t, i, 'H', 33);
  if (a - i != 32 || !startsAt(t, a, "-us")) return 0;
  uint32_t b = a + 3;
  while (b < t.n && b < a + 5 && isDigit(t.p[b])) b++;
  return b > a + 3 && (b == t.n || !isAlnum(t.p[b])) ? b : 0;
}
// Firebase Cloud Messaging: a short identifier, then the key proper.
uint32_t messaging(Str t, uint32_t i) {
  uint32_t a = run(t, i, 'D', 24);
  if (a - i < 8 || !startsAt(t, a, ":APA91b")) return 0;
  uint32_t b = run(t, a + 1, 'D', 400);
  return b - a > 100 ? b : 0;
}
// Terraform Cloud: 14 characters, ".atlasv1.", 60 and more.
uint32_t atlas(Str t, uint32_t i) {
  uint32_t a = run(t, i, 'A', 15);
  if (a - i != 14 || !startsAt(t, a, ".atlasv1.")) return 0;
  uint32_t b = run(t, a + 9, 'D', 200);
  return b - a - 9 >= 50 ? b : 0;
}

} // namespace

namespace {

constexpr uint16_t kCount = sizeof kFormats / sizeof *kFormats;
constexpr uint16_t kNone = 0xffff;
// The formats by their first byte, as lists in the order of the table.
struct Index {
  uint16_t first[128], next[kCount];
  bool ready;
};
Index table;

const Index &byFirst() {
  if (table.ready) return table;
  for (uint16_t &f : table.first) f = kNone;
  for (uint16_t i = kCount; i-- > 0;) {
    uint16_t &head = table.first[static_cast<unsigned char>(kFormats[i].prefix[0]) & 127];
    table.next[i] = head;
    head = i;
  }
  table.ready = true;
  return table;
}

} // namespace

uint32_t matchFormat(Str t, uint32_t i, const char **kind) {
  char c = t.p[i];
  const Index &index = byFirst();
  if (static_cast<unsigned char>(c) > 127) return 0;
  for (uint16_t at = index.first[static_cast<unsigned char>(c)]; at != kNone; at = index.next[at]) {
    const Format &f = kFormats[at];
    if (!startsAt(t, i, f.prefix)) continue;
    uint32_t b = i + static_cast<uint32_t>(weir_cstr(f.prefix).n);
    uint32_t e = run(t, b, f.set, f.max ? f.max : 1 << 16);
    if (f.set == 'X' || f.set == 'D')
      while (e > b && (t.p[e - 1] == '.' || t.p[e - 1] == '-')) e--; // the end of a sentence
    if (e - b < f.min) continue;
    if (f.max && e < t.n && isWord(t.p[e]) && inSet(t.p[e], f.set)) continue; // longer than such a token is
    Str body = weir_sub(t, b, e);
    if (isPlaceholder(weir_sub(t, i, e))) return 0;
    if (f.set == 'Y' && (body.n < 16 || body.p[14] != '.')) continue;
    if (f.set == 'T') {
      e = telegram(t, b);
      if (!e) continue;
    }
    // A short prefix alone says little: what follows must look like a token.
    if (weir_cstr(f.prefix).n <= 4 && f.set != 'U' && !looksRandom(body)) continue;
    if (f.set == 'U' && weir_cstr(f.prefix).n <= 4) {
      bool digit = false, letter = false;
      for (size_t k = 0; k < body.n; k++) {
        digit |= isDigit(body.p[k]);
        letter |= isUpper(body.p[k]);
      }
      if (!letter || (!digit && !looksRandom(body) && body.n < 16)) continue;
    }
    if (weir_same(weir_cstr(f.kind), WEIR_S("slack-token")) && !looksRandom(body)) continue;
    *kind = f.kind;
    return e;
  }
  uint32_t e = 0;
  if (c == 'e' && startsAt(t, i, "eyJ") && (e = jwt(t, i))) return *kind = "jwt", e;
  if (isDigit(c) && (e = telegram(t, i))) return *kind = "telegram-token", e;
  if ((c == 'M' || c == 'N' || c == 'O') && (e = discord(t, i))) return *kind = "discord-token", e;
  if (isHex(c) && i + 33 < t.n && t.p[i + 32] == '-' && (e = mailchimp(t, i))) return *kind = "mailchimp-key", e;
  if (startsAt(t, i, "AAAA") && (e = messaging(t, i))) return *kind = "firebase-key", e;
  if (isAlnum(c) && i + 15 < t.n && t.p[i + 14] == '.' && (e = atlas(t, i))) return *kind = "terraform-token", e;
  return 0;
}
