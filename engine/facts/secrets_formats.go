package facts

// alphabet says what a token is made of.
type alphabet uint8

const (
	alnum   alphabet = iota + 1
	capital          // capitals and digits
	hexes            // hexadecimal digits
	word             // letters, digits, _
	dashed           // word and -
	dotted           // dashed and .
	base64s          // letters, digits, + / = - _
	urlPath          // dashed and / + =
	visible          // all but blanks, quotes and commas
)

func (a alphabet) has(c byte) bool {
	letter := c|0x20 >= 'a' && c|0x20 <= 'z'
	digit := c >= '0' && c <= '9'
	switch a {
	case alnum:
		return letter || digit
	case capital:
		return c >= 'A' && c <= 'Z' || digit
	case hexes:
		return digit || c|0x20 >= 'a' && c|0x20 <= 'f'
	case word:
		return letter || digit || c == '_'
	case dashed:
		return letter || digit || c == '_' || c == '-'
	case dotted:
		return letter || digit || c == '_' || c == '-' || c == '.'
	case visible:
		return c > ' ' && c < 0x7f && c != '"' && c != '\'' && c != '`' && c != ','
	default:
		return letter || digit || c == '_' || c == '-' || c == '/' || c == '+' || c == '='
	}
}

// format is a kind of token with a spelling of its own: a prefix, and so many characters behind it (max 0: any number).
type format struct {
	kind, prefix string
	set          alphabet
	min, max     int
}

// formats are from the issuers' documentation. The names of the kinds are those of the bundled redact-secrets.
func formats() []format {
	return []format{
		{"aws-access-key", "AKIA", capital, 16, 16},
		{"aws-access-key", "ASIA", capital, 16, 16},
		{"aws-bedrock-key", "ABSK", base64s, 100, 0},
		{"aws-session-token", "IQoJb3JpZ2lu", base64s, 60, 0},
		{"aws-session-token", "FwoGZXIvYXdz", base64s, 60, 0},
		{"github-token", "ghp_", alnum, 36, 255},
		{"github-token", "gho_", alnum, 36, 255},
		{"github-token", "ghu_", alnum, 36, 255},
		{"github-token", "ghs_", alnum, 36, 255},
		{"github-token", "ghr_", alnum, 36, 255},
		{"github-token", "github_pat_", word, 36, 255},
		{"gitlab-token", "glpat-", dotted, 20, 0},
		{"gitlab-token", "gldt-", dashed, 20, 0},
		{"gitlab-token", "glrt-", dotted, 20, 0},
		{"gitlab-token", "glcbt-", dashed, 20, 0},
		{"gitlab-token", "glptt-", dashed, 20, 0},
		{"gitlab-token", "GR1348941", dashed, 20, 0},
		{"slack-token", "xoxb-", dashed, 20, 0},
		{"slack-token", "xoxp-", dashed, 20, 0},
		{"slack-token", "xoxa-", dashed, 20, 0},
		{"slack-token", "xoxs-", dashed, 20, 0},
		{"slack-token", "xoxe-", dashed, 20, 0},
		{"slack-token", "xapp-", dashed, 20, 0},
		{"slack-webhook", "https://hooks.slack.com/services/", urlPath, 20, 0},
		{"discord-webhook", "https://discord.com/api/webhooks/", urlPath, 30, 0},
		{"stripe-key", "sk_live_", alnum, 16, 0},
		{"stripe-key", "rk_live_", alnum, 16, 0},
		{"stripe-key", "sk_test_", alnum, 16, 0},
		{"stripe-webhook", "whsec_", base64s, 24, 0},
		{"anthropic-key", "sk-ant-", dashed, 24, 0},
		{"openrouter-key", "sk-or-", dashed, 24, 0},
		{"openai-key", "sk-proj-", dashed, 24, 0},
		{"openai-key", "sk-svcacct-", dashed, 24, 0},
		{"openai-key", "sk-", alnum, 32, 0},
		{"google-api-key", "AIza", dashed, 35, 35},
		{"google-oauth-token", "ya29.", dotted, 20, 0},
		{"google-oauth-secret", "GOCSPX-", dashed, 20, 0},
		{"npm-token", "npm_", alnum, 36, 0},
		{"pypi-token", "pypi-Ag", dashed, 50, 0},
		{"rubygems-key", "rubygems_", hexes, 48, 48},
		{"docker-token", "dckr_pat_", dashed, 20, 0},
		{"sendgrid-key", "SG.", dotted, 50, 0},
		{"mailgun-key", "key-", hexes, 32, 32},
		{"twilio-key", "SK", hexes, 32, 32},
		{"shopify-token", "shpat_", hexes, 32, 32},
		{"shopify-token", "shpss_", hexes, 32, 32},
		{"huggingface-token", "hf_", alnum, 30, 0},
		{"replicate-token", "r8_", alnum, 30, 0},
		{"xai-key", "xai-", alnum, 40, 0},
		{"groq-key", "gsk_", alnum, 40, 0},
		{"perplexity-key", "pplx-", alnum, 40, 0},
		{"nvidia-key", "nvapi-", dashed, 40, 0},
		{"vault-token", "hvs.", dashed, 20, 0},
		{"vault-token", "hvb.", dashed, 20, 0},
		{"doppler-token", "dp.pt.", dotted, 30, 0},
		{"databricks-token", "dapi", hexes, 32, 34},
		{"digitalocean-token", "dop_v1_", hexes, 64, 64},
		{"grafana-token", "glsa_", word, 36, 0},
		{"newrelic-key", "NRAK-", capital, 27, 0},
		{"sentry-token", "sntrys_", urlPath, 40, 0},
		{"dynatrace-token", "dt0c01.", dotted, 60, 0},
		{"linear-key", "lin_api_", alnum, 32, 0},
		{"notion-token", "ntn_", alnum, 40, 0},
		{"figma-token", "figd_", dashed, 30, 0},
		{"atlassian-token", "ATATT3", urlPath, 60, 0},
		{"postman-key", "PMAK-", dashed, 40, 0},
		{"square-token", "sq0atp-", dashed, 22, 0},
		{"supabase-key", "sbp_", hexes, 40, 0},
		{"age-key", "AGE-SECRET-KEY-1", capital, 50, 0},
		{"tailscale-key", "tskey-", dashed, 24, 0},
		{"onepassword-token", "ops_eyJ", base64s, 60, 0},
		{"pulumi-token", "pul-", hexes, 40, 40},
		{"cloudflare-key", "v1.0-", dashed, 140, 0},
		{"heroku-key", "HRKU-", dashed, 36, 0},
		{"django-secret", "django-insecure-", visible, 30, 0},
		{"private-key", "LS0tLS1CRUdJTi", base64s, 80, 0},
		{"jwt", "eyJ", dotted, 60, 0},
	}
}
