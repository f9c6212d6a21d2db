"""Redaction: every kind is found, nothing else is touched, twice is once, and time grows with the text.

No secret is written out: a scanner that reads this file must find nothing, so the fakes are put together from pieces.
"""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.redact import KINDS, redact

HEX = "0a1b2c3d4e5f6789"
MIX = "a1B2c3D4e5F6g7H8"


def fake(alphabet: str, size: int) -> str:
    return (alphabet * (size // len(alphabet) + 1))[:size]


def pem(label: str, newline: str = "\n") -> str:
    body = newline.join(fake("MIIEvAIBADANBgkqhkiG9w0B", 64) for _ in range(4))
    return f"-----BE{'GIN'} {label}-----{newline}{body}{newline}-----EN{'D'} {label}-----"


UUID = f"{fake(HEX, 8)}-{fake(HEX, 4)}-4{fake(HEX, 3)}-a{fake(HEX, 3)}-{fake(HEX, 12)}"
JWT = "ey" + "J" + fake(MIX, 20) + ".ey" + "J" + fake(MIX, 40) + "." + fake(MIX, 43)

# (kind, what stands before the secret, the secret, what stands after it)
CASES = [
    ("gcp-service-account",
     '{"type": "service_account", "private_' + 'key": "', pem("PRIVATE KEY", "\\n") + "\\n", '"}'),
    ("private-key", "it uses\n", pem("RSA PRIVATE KEY"), "\nsince May"),
    ("private-key", "it uses\n", pem("OPENSSH PRIVATE KEY"), "\nsince May"),
    ("private-key", "it uses\n", pem("PGP PRIVATE KEY BLOCK"), "\nsince May"),
    ("putty-private-key", "Private-" + "Lines: 2\n", fake(MIX, 64) + "\n" + fake(MIX, 40), "\nPrivate-MAC: 1"),
    ("age-secret-key", "it uses ", "AGE-SECRET-" + "KEY-1" + fake("QPZRY9X8GF2TVDW0", 58), " since May"),
    ("github-token", "it uses ", "gh" + "p_" + fake(MIX, 36), " since May"),
    ("github-token", "it uses ", "gh" + "s_" + fake(MIX, 36), " since May"),
    ("github-fine-grained-token", "it uses ", "github_" + "pat_" + fake(MIX, 22) + "_" + fake(MIX, 59), " since May"),
    ("gitlab-token", "it uses ", "gl" + "pat-" + fake(MIX, 20), " since May"),
    ("bitbucket-token", "it uses ", "AT" + "BB" + fake(MIX, 32), " since May"),
    ("atlassian-token", "it uses ", "ATA" + "TT3" + fake(MIX, 180) + "=0A1B2C3D", " since May"),
    ("npm-token", "it uses ", "np" + "m_" + fake(MIX, 36), " since May"),
    ("pypi-token", "it uses ", "py" + "pi-AgEIcHlwaS5vcmc" + fake(MIX, 80), " since May"),
    ("rubygems-key", "it uses ", "ruby" + "gems_" + fake(HEX, 48), " since May"),
    ("crates-io-token", "it uses ", "ci" + "o" + fake(MIX, 32), " since May"),
    ("nuget-key", "it uses ", "oy" + "2" + fake("a1b2c3d4e5", 43), " since May"),
    ("docker-hub-token", "it uses ", "dckr_" + "pat_" + fake(MIX, 27), " since May"),
    ("artifactory-key", "it uses ", "AK" + "Cp" + fake(MIX, 69), " since May"),
    ("sonarqube-token", "it uses ", "sq" + "p_" + fake(HEX, 40), " since May"),
    ("circleci-token", "it uses ", "CCI" + "PAT_" + fake(MIX, 22) + "_" + fake(HEX, 40), " since May"),
    ("buildkite-token", "it uses ", "bk" + "ua_" + fake(HEX, 40), " since May"),
    ("aws-access-key-id", "it uses ", "AK" + "IA" + fake("A1B2C3D4", 16), " since May"),
    ("aws-secret-key", "aws_secret_access_key = ", fake("aB3/dE6+", 40), " # since May"),
    ("aws-session-token", "AWS_SESSION_TOKEN=", fake(MIX, 300) + "==", " # since May"),
    ("gcp-api-key", "it uses ", "AI" + "za" + fake(MIX, 35), " since May"),
    ("google-oauth-secret", "it uses ", "GOC" + "SPX-" + fake(MIX, 28), " since May"),
    ("google-oauth-token", "it uses ", "ya" + "29." + fake(MIX, 120), " since May"),
    ("azure-storage-key", "AccountName=x;Account" + "Key=", fake(MIX, 86) + "==", ";EndpointSuffix=core.windows.net"),
    ("azure-sas", "https://x.blob.core.windows.net/c?sv=2024-01-01&sig=", fake("aB3%2B", 66) + "%3D", "&se=2026"),
    ("azure-client-secret", "it uses ", "abc" + "8Q~" + fake(MIX, 34), " since May"),
    ("signed-url", "https://b.s3.amazonaws.com/k?X-Amz-" + "Signature=", fake(HEX, 64), "&x=1"),
    ("digitalocean-token", "it uses ", "do" + "p_v1_" + fake(HEX, 64), " since May"),
    ("heroku-key", "HEROKU_API_KEY=", UUID, " # since May"),
    ("heroku-key", "it uses ", "HR" + "KU-AA" + fake(MIX, 58), " since May"),
    ("cloudflare-key", 'CLOUDFLARE_API_TOKEN: "', fake(MIX, 40), '" # since May'),
    ("cloudflare-key", "it uses ", "v1" + ".0-" + fake(HEX, 24) + "-" + fake(HEX, 146), " since May"),
    ("fly-token", "it uses ", "fo" + "1_" + fake(MIX, 43), " since May"),
    ("netlify-token", "it uses ", "nf" + "p_" + fake(MIX, 36), " since May"),
    ("render-key", "it uses ", "rn" + "d_" + fake(MIX, 28), " since May"),
    ("supabase-key", "it uses ", "sb" + "p_" + fake(HEX, 40), " since May"),
    ("neon-key", "it uses ", "na" + "pi_" + fake("a1b2c3", 64), " since May"),
    ("planetscale-token", "it uses ", "psc" + "ale_tkn_" + fake(MIX, 43), " since May"),
    ("databricks-token", "it uses ", "da" + "pi" + fake(HEX, 32), " since May"),
    ("terraform-token", "it uses ", fake(MIX, 14) + ".atlas" + "v1." + fake(MIX, 67), " since May"),
    ("vault-token", "it uses ", "hv" + "s." + fake(MIX, 90), " since May"),
    ("doppler-token", "it uses ", "dp" + ".st.prd." + fake(MIX, 43), " since May"),
    ("1password-token", "it uses ", "op" + "s_ey" + "J" + fake(MIX, 250), " since May"),
    ("pulumi-token", "it uses ", "pu" + "l-" + fake(HEX, 40), " since May"),
    ("tailscale-key", "it uses ", "ts" + "key-auth-" + fake(MIX, 17) + "-" + fake(MIX, 32), " since May"),
    ("anthropic-key", "it uses ", "sk-" + "ant-api03-" + fake(MIX, 93) + "AA", " since May"),
    ("openrouter-key", "it uses ", "sk-" + "or-v1-" + fake(HEX, 64), " since May"),
    ("openai-key", "it uses ", "sk" + "-" + fake(MIX, 48), " since May"),
    ("openai-key", "it uses ", "sk-" + "proj-" + fake(MIX, 48) + "_" + fake(MIX, 48), " since May"),
    ("huggingface-token", "it uses ", "h" + "f_" + fake("aBcDeFgHiJ", 34), " since May"),
    ("groq-key", "it uses ", "gs" + "k_" + fake(MIX, 52), " since May"),
    ("xai-key", "it uses ", "xa" + "i-" + fake(MIX, 80), " since May"),
    ("perplexity-key", "it uses ", "pp" + "lx-" + fake(MIX, 48), " since May"),
    ("replicate-token", "it uses ", "r" + "8_" + fake(MIX, 37), " since May"),
    ("langsmith-key", "it uses ", "lsv" + "2_pt_" + fake(HEX, 32) + "_" + fake(HEX, 10), " since May"),
    ("slack-token", "it uses ", "xo" + "xb-123456789012-123456789012-" + fake(MIX, 24), " since May"),
    ("slack-webhook", "https://hooks.sl" + "ack.com/services/", "T0A1B2C3D/B0A1B2C3D/" + fake(MIX, 24), " since May"),
    ("teams-webhook", "https://x.webhook.off" + "ice.com/webhookb2/",
     f"{UUID}@{UUID}/IncomingWebhook/{fake(HEX, 32)}/{UUID}", " since May"),
    ("discord-webhook", "https://dis" + "cord.com/api/webhooks/123456789012345678/", fake(MIX, 68), " since May"),
    ("discord-bot-token", "it uses ", ".".join(["M" + "T" + fake(MIX, 24), fake(MIX, 6), fake(MIX, 38)]), " since May"),
    ("telegram-bot-token", "it uses ", "123456789" + ":A" + "A" + fake(MIX, 33), " since May"),
    ("twilio-key", "it uses ", "S" + "K" + fake(HEX, 32), " since May"),
    ("twilio-key", "TWILIO_AUTH_TOKEN=", fake(HEX, 32), " # since May"),
    ("sendgrid-key", "it uses ", "S" + "G." + fake(MIX, 22) + "." + fake(MIX, 43), " since May"),
    ("mailgun-key", "it uses ", "ke" + "y-" + fake(HEX, 32), " since May"),
    ("mailgun-key", "MAILGUN_API_KEY=", fake(HEX, 32) + "-" + fake(HEX, 8) + "-" + fake(HEX, 8), " # since May"),
    ("mailchimp-key", "it uses ", fake(HEX, 32) + "-us" + "12", " since May"),
    ("resend-key", "it uses ", "r" + "e_" + fake(MIX, 8) + "_" + fake(MIX, 24), " since May"),
    ("stripe-key", "it uses ", "sk" + "_live_" + fake(MIX, 24), " since May"),
    ("stripe-key", "it uses ", "rk" + "_live_" + fake(MIX, 99), " since May"),
    ("webhook-secret", "it uses ", "wh" + "sec_" + fake(MIX, 32), " since May"),
    ("square-token", "it uses ", "sq" + "0atp-" + fake(MIX, 22), " since May"),
    ("shopify-token", "it uses ", "shp" + "at_" + fake(HEX, 32), " since May"),
    ("linear-key", "it uses ", "lin_" + "api_" + fake(MIX, 40), " since May"),
    ("notion-token", "it uses ", "nt" + "n_" + fake(MIX, 46), " since May"),
    ("airtable-token", "it uses ", "pa" + "t" + fake(MIX, 14) + "." + fake(HEX, 64), " since May"),
    ("figma-token", "it uses ", "fi" + "gd_" + fake(MIX, 40), " since May"),
    ("postman-key", "it uses ", "PM" + "AK-" + fake(HEX, 24) + "-" + fake(HEX, 34), " since May"),
    ("datadog-key", "DD_API_KEY=", fake(HEX, 32), " # since May"),
    ("newrelic-key", "it uses ", "NR" + "AK-" + fake("A1B2C3", 27), " since May"),
    ("sentry-token", "it uses ", "sntr" + "yu_" + fake(HEX, 64), " since May"),
    ("sentry-dsn", "https://", fake(HEX, 32), "@o123.ingest.sentry.io/456"),
    ("grafana-token", "it uses ", "gl" + "sa_" + fake(MIX, 32) + "_" + fake(HEX, 8), " since May"),
    ("dynatrace-token", "it uses ", "dt0" + "c01." + fake("A1B2C3", 24) + "." + fake("A1B2C3", 64), " since May"),
    ("jwt", "it uses ", JWT, " since May"),
    ("bearer-token", "curl -H 'Authorization: Bea" + "rer ", fake(MIX, 30), "' https://api.acme.dev"),
    ("bearer-token", '"authorization": "tok' + 'en ', fake(HEX, 40), '"'),
    ("basic-auth", "Authorization: Ba" + "sic ", "dXNlcjpw" + "YXNzd29yZA==", " since May"),
    ("session-cookie", "Cookie: theme=dark; sess" + "ionid=", fake(MIX, 32), "; lang=de"),
    ("curl-password", "curl -s -u deploy:", "hunter" + "2x", " https://api.acme.dev"),
    ("netrc-password", "machine api.acme.dev login deploy pass" + "word ", "hunter" + "2x", "\n"),
    ("url-password", "postgres://app:", "hunter" + "2", "@db.internal:5432/prod"),
    ("url-password", "redis://:", "p@ss" + "w0rd", "@cache:6379/0"),
    ("url-password", "https://", fake(MIX, 40), "@github.com/x/y.git"),
    ("jwk-private-key", '{"kty":"EC","crv":"P-256","' + 'd":"', fake(MIX, 43), '"}'),
    ("mapbox-token", "it uses ", "sk" + ".ey" + "J" + fake(MIX, 40) + "." + fake(MIX, 22), " since May"),
    ("prefixed-token", "it uses ", "ac" + "me_" + fake(MIX, 32), " since May"),
    ("password-hash", "deploy:", "$ap" + "r1$" + fake(MIX, 8) + "$" + fake(MIX, 22), "\n"),
    ("encoded-key", "APP_KEY=", "base" + "64:" + fake(MIX, 43) + "=", "\n"),
    ("command-password", "mysql -u root -p", "hunter" + "2x", " shop"),
    ("command-password", "sshpass -p '", "hunter" + "2x", "' ssh pi@10.0.0.4"),
    ("command-password", "redis-cli -h cache -a ", "hunter" + "2x", " info"),
    ("device-password", "tacacs-server key ", fake(MIX, 12), "\n"),
    ("recovery-code", "backup codes: ", "a1b2c" + "-d3e4f", "."),
    ("login-password", "rsync x admin:", fake(MIX, 12), "@10.0.0.4:/srv"),
    ("named-value", "- name: DB_PASSWORD\n  value: ", fake(MIX, 14), "\n"),
    ("pgpass-password", "db.internal:5432:shop:app:", fake(MIX, 12), "\n"),
    ("registry-auth", '{"auths": {"r.acme.dev": {"au' + 'th": "', "dXNlcjpw" + "YXNzd29yZA==", '"}}}'),
    ("positional-secret", "DriverManager.getConnection(url, 'app', '", fake(MIX, 12), "');"),
    ("pin", "my pin is ", "2061" + "57", " for the phone"),
    ("totp-seed", "type the seed: ", fake("ABCD2345EFGH67", 16), "\n"),
    ("mnemonic", "recovery phrase: ", "zebra yard wrist " * 3 + "moon lamp kite", "."),
    ("vendor-secret", "hetzner ", fake(MIX, 40), " since May"),
    ("license-key", "The license key is ", "A1B2C" + "-D3E4F-G5H6I-J7K8L", "."),
    ("wifi-key", "Office wifi: ACME / key ", fake(MIX, 12), " (guests)"),
    ("said-password", "ana: what is the root pw?\nben: ", fake(MIX, 10), "\n"),
    ("plain-password", "smtp:\n  password: ", "Sonnen" + "blume", "\n"),
    ("plain-password", "ADMIN_PASSWORD=", "quiet" + "harbour", "\n"),
    ("passphrase", "the passphrase is '", "seven blue otters " + "drink coffee", "', same as before"),
    ("plain-password", 'for the FTP use password "', "garten" + "zaun", '"'),
    ("provider-token", "it uses ", "xkey" + "sib-" + fake(HEX, 64) + "-" + fake(MIX, 16), " since May"),
    ("provider-token", "it uses ", "pat-" + "na1-" + UUID, " since May"),
    ("header-secret", "x-honeycomb-team: ", fake(MIX, 22), "\n"),
    ("query-secret", "https://api.acme.dev/v1?access_token=", fake(MIX, 32), "&page=2"),
    ("query-secret", "https://api.acme.dev/weather?q=Bern&appid=", fake(HEX, 32), " works"),
    ("url-key", "https://mainnet.inf" + "ura.io/v3/", fake(HEX, 32), " since May"),
    ("url-key", "https://hooks.zap" + "ier.com/hooks/catch/", "123456/a1b2" + "c3d", "/"),
    ("keypair", "[", ",".join(str(n * 37 % 256) for n in range(64)), "]"),
    ("app-password", "Gmail app password: ", "qwzx rtyu " + "bvcn mlkj", "\n"),
    ("column-secret", "name,url,password\nshop,https://acme.dev,", "sun" + "flower", "\n"),
    ("positional-secret", "mysqli_connect('db', 'root', '", "phpR" + "00t!", "', 'shop');"),
    ("positional-secret", "hmac.new(b'", fake(MIX, 32), "', message, sha256)"),
    ("command-password", "poetry publish -u bob -p ", "p0etry" + "Pw9", " now"),
    ("command-password", "echo '", "sud0" + "Echo!", "' | sudo -S apt update"),
    ("command-password", "sqlplus system/", "Oracle" + "_4U", "@//db:1521/XE"),
    ("command-password", "xfreerdp /u:bob /p:", "Rdp!" + "pass9", " /v:10.0.0.9"),
    ("command-password", "aws ssm put-parameter --type SecureString --value ", "ssmV4" + "lue99", "\n"),
    ("said-password", "ID/PW: master/", "IhqSb" + "1Gg", "\n"),
    ("said-password", "log in with root / ", "mZ4!" + "kd9w", " and restart it"),
    ("said-password", "", "Winter!" + "2025", " is the admin password"),
    ("nearby-secret", "The credential we rotated in May, ", fake(MIX, 24), ", still works."),
    ("said-password", "Use ", fake(MIX, 12), " as the password for now."),
]  # fmt: skip

ASSIGNED = [
    ('password = "', "Tr0ub4" + "dor&3", '"'),
    ("PASSWORD=", "hunter" + "2", "\nDEBUG=1"),
    ("the staging password is ", "Tr0ub4" + "dor&3", ", ask Ann"),
    ("the password of the staging admin was ", "Tr0ub4" + "dor&3", ""),
    ("mysql -u root --password=", "Zx81" + "kqPw", " db"),
    (':password => "', "hunter" + "2", '", :port => 5432'),
    ("DB_PASS: ", "Somm" + "er2024!", "\n"),
    ("api_key: ", fake(MIX, 24), "\n"),
    ("SECRET_KEY=", "j3$k9" + "!dk2m#4nb7v@x1", "\n"),
    ("deploy --token ", fake(MIX, 24), " --force"),
    ("deploy --auth-token=", fake(HEX, 32), " --force"),
    ('{"client_secret": "', fake(MIX, 32), '"}'),
    ('{\\"apiKey\\": \\"', fake(MIX, 32), '\\"}'),
    ('os.environ["API_KEY"] = "', fake(MIX, 32), '"'),
    ("headers['X-Api-Key'] = '", fake(MIX, 32), "'"),
    ('def f(token: str = "', fake(MIX, 32), '"): ...'),
    ('h.set("X-Api-Key", "', fake(MIX, 32), '")'),
    ("<password>", "hunter" + "2x9", "</password>"),
    ("PrivateKey = ", fake("yAnz5TF+lXXJte14tji3", 43) + "=", "\n"),
    ("**API key**: `", fake(MIX, 32), "`"),
    ("if token != '", fake(MIX, 32), "':"),
    ("//registry.npmjs.org/:_authToken=", UUID, "\n"),
    ("password\uff1a", "hunter" + "2", " \u3002"),
    ("\u0130\u0130 password=", "hunter" + "2", "\n"),
    ("secret = ", fake(MIX, 5000), "\n"),
    ("FERNET_KEY = b'", fake(MIX, 43) + "=", "'"),
    ("mistral key: ", fake(MIX, 32), "\n"),
    ("I set the admin pw to ", "Winter!" + "2025", " for now"),
    ("Kennwort ", "Geheim!" + "77", ""),
    ("RESTIC_PASSWORD=", "backup-Horse" + "-9", "\n"),
    ("contraseña del wifi: ", "CasaBlanca" + "22", "\n"),
    ("비밀번호: ", "Seoul!" + "2024", "\n"),
    ("username bob privilege 15 secret ", "c1sco" + "Pw99", "\n"),
    ("mvn deploy -Dpassword=", "mvnDe" + "pl0y", " now"),
    ("password: !unsafe '", "Un5afe" + "#pw", "'"),
    ("ALTER LOGIN sa WITH PASSWORD = N'", "N3w$a" + "Pw!", "';"),
]

UNTOUCHED = [
    "",
    "The password is stored hashed with argon2id.",
    "The token for CI is in 1Password.",
    "The password for prod is stored in Vault2.",
    "token: string",
    "secret: rotate weekly",
    "password=changeme",
    "password = <your-password>",
    "API_KEY=<your-key>",
    "export TOKEN=$GITHUB_TOKEN",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "password: ${DB_PASSWORD}",
    'api_key = os.environ["OPENAI_API_KEY2"]',
    "const token = process.env.API_TOKEN_2;",
    "API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx",
    "password: ********",
    "token = None",
    'password="example123"',
    'api_key = "your-api-key-1234"',
    "git show 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "fixed in 9fceb02 and 1a2b3c4d5e",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  setup.py",
    "request 123e4567-e89b-42d3-a456-426614174000 failed",
    "memory 01ARZ3NDEKTSV4RRFFQ69G5FAV supersedes 01BX5ZZKBKACTAV9WEVGEMMVRZ",
    "/usr/lib/python3.11/site-packages/token/secret_key.py",
    "src/auth/Token2.ts:45 reads the secret",
    "aGVsbG8gd29ybGQ= is base64 of hello world",
    "upgrade to 1.2.3-beta.4+build.567",
    "mail alice.smith+dev@example-corp.com",
    "git clone git@github.com:acme/tool.git",
    "see https://example.com:8080/path?x=1#frag and http://localhost:3000/@vite/client",
    "const getAccessTokenFromCookie = (req) => req.cookies.token;",
    "token = getAccessTokenFromCookie(request)",
    "const token = oauth2Token;",
    "token = await auth0Client.getTokenSilently()",
    "self.password = user2.password_hash",
    "max_tokens=4096, pad_token='<|endoftext|>', next_page_token = 'a1B2c3D4e5F6'",
    "| token | secret |\n|---|---|\n| a | b |",
    "the sk-learn task-runner-that-is-long uses risk-assessment-tokens-2024",
    '<input type="password" name="password" autocomplete="current-password">',
    '"password": "required|string|min:8|confirmed"',
    "password: Field(min_length=8, max_length=64)",
    "algorithm for the password: sha256",
    "password is at least 12chars",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "Authorization: Basic base64(user:pass)",
    "bearer authentication-is-required-here",
    "postgres://app:${PGPASSWORD}@db/prod",
    "postgres://app:***@db/prod",
    "starts with -----BE" + "GIN PRIVATE KEY----- and ends with -----EN" + "D PRIVATE KEY-----",
    "-----BE" + "GIN CERTIFICATE-----\n" + "MIIB" * 16 + "\n-----EN" + "D CERTIFICATE-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8s9t0u ann@host",
    "docker run -u 1000:1000 image",
    "private_key = ~/.ssh/id_ed25519",
    "secretName: db-creds-prod-01, secret: db-creds-prod-01",
    "the tokenizer's token_ids: [101, 2023, 102]",
    "PASS: test_login_2fa (0.12s)",
    "gh" + "p_" + "x" * 36 + " is how one looks",
    "sk" + "-..., " + "gh" + "p_... and AK" + "IA... are prefixes",
    "primary key: user_id2, foreign key: order_id",
    "if (password !== confirmPassword2) throw new Error('password mismatch')",
    "token_type: Bearer, expires_in: 3600",
    "arn:aws:secretsmanager:us-west-2:123456789012:secret:MyTestDatabaseSecret-a1b2c3",
    "enter login and password fields2 in the form",
    "key: value\ncache-key: ${{ runner.os }}-pip-3.11",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "integrity sha512-9NuL8hcOGdrz4rKc1Mwm0aZ2yUmUqmkqYJbnZpnDrcPvGeMYPqPFyQkIMIQ1wMzGVEgjCwOyVVGvkRGmh0bMRw==",
    "AK" + "IAIOSFODNN7EXAMPLE is the one from the manual",
    "curl -u user:password https://acme.dev and postgresql://user:password@localhost/db",
    "Merge 9fceb02d0ae598e95dc970b74767f19372d61af8 into main (password reset)",
    "nextPageToken: " + fake(MIX, 60),
    "pk_" + "live_" + fake(MIX, 24) + " is the publishable key",
    '"id": "chatcmpl-' + fake(MIX, 29) + '"',
    "from mcp.shared.auth import OAuthClientInformationFull, OAuthTokenRevocationRequestSchema",
    "recollect/auth.py,sha256=" + fake(MIX, 43) + ",9262",
    "password manager: 1Password",
    '{"id": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "key": "' + fake(HEX, 32) + '", "content_hash": "' + fake(HEX, 32) + '"}',
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "x-amz-cf-id: fYh-g5zO3VhiWZ7At54nuaYFDrC1rcwNwTkRjSgg7-j76bvUUhaP--==",
    "paths: ['users[0].password', 'users[1].password', 'users.*.profile.apiKey']",
    "mailto:gorby%25kremvax@example.com",
    "name,token_count\ndoc1,812",
    str(list(range(1, 33))),
    "password step2 and secret k8s resources",
    "密码是保存在 vault 里的\uff0ctoken\uff1a见文档。",
]


def kind_is_redacted(kind: str, before: str, secret: str, after: str) -> None:
    clean, kinds = redact(before + secret + after)
    assert clean == f"{before}[redacted:{kind}]{after}"
    assert kinds == (kind,)


@pytest.mark.parametrize(("kind", "before", "secret", "after"), CASES)
def test_a_secret_of_each_kind_is_replaced_and_its_sentence_kept(
    kind: str, before: str, secret: str, after: str
) -> None:
    kind_is_redacted(kind, before, secret, after)


@pytest.mark.parametrize(("before", "secret", "after"), ASSIGNED)
def test_a_value_given_to_a_secret_name_is_replaced(before: str, secret: str, after: str) -> None:
    clean, kinds = redact(before + secret + after)
    assert clean == f"{before}[redacted:{kinds[0]}]{after}"


def test_every_kind_has_a_case() -> None:
    assert {case[0] for case in CASES} | {"assigned-secret"} == set(KINDS)
    assert len(KINDS) >= 35
    assert len(set(KINDS)) == len(KINDS)


@pytest.mark.parametrize("text", UNTOUCHED)
def test_text_without_a_secret_comes_back_as_it_was(text: str) -> None:
    clean, kinds = redact(text)
    assert (clean, kinds) == (text, ())
    assert clean is text


def test_several_secrets_in_one_text_are_all_replaced() -> None:
    key, token = "AK" + "IA" + fake("A1B2C3D4", 16), "gh" + "p_" + fake(MIX, 36)
    clean, kinds = redact(f"a {token} b {key} c {token}, d postgres://u:{token}@h")
    assert clean == (
        "a [redacted:github-token] b [redacted:aws-access-key-id] c [redacted:github-token], "
        "d postgres://u:[redacted:github-token]@h"
    )
    assert kinds == ("aws-access-key-id", "github-token")


def test_a_private_key_cut_off_before_its_end_is_replaced_up_to_where_the_prose_goes_on() -> None:
    block = pem("EC PRIVATE KEY").rpartition("\n")[0]
    clean, kinds = redact(f"here:\n{block}\nand so on")
    assert clean == "here:\n[redacted:private-key]\nand so on"
    assert kinds == ("private-key",)


def test_an_encrypted_private_key_goes_with_its_headers() -> None:
    head, body = pem("RSA PRIVATE KEY").split("\n", 1)
    text = f"{head}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,{fake(HEX, 32)}\n\n{body}"
    assert redact(text)[0] == "[redacted:private-key]"
    assert redact(text.rpartition("\n")[0])[0] == "[redacted:private-key]"


def test_a_password_that_holds_a_token_is_replaced_as_a_whole() -> None:
    token = "gh" + "p_" + fake(MIX, 36)
    assert redact(f"postgres://u:abc-{token}@h")[0] == "postgres://u:[redacted:url-password]@h"


@pytest.mark.parametrize(
    "hide",
    [
        lambda t: "\u200b".join(t),
        lambda t: t[:9] + "\u2060\ufeff" + t[9:],
        lambda t: "".join(chr(ord(c) + 0xFEE0) for c in t),
    ],
    ids=["zero-width", "joiner", "full-width"],
)
def test_a_secret_hidden_by_lookalike_or_invisible_characters_is_found(hide) -> None:  # type: ignore[no-untyped-def]
    token = "gh" + "p_" + fake(MIX, 36)
    assert redact(f"use {hide(token)} now") == ("use [redacted:github-token] now", ("github-token",))


def test_invisible_characters_stay_where_nothing_hides() -> None:
    text = "emoji \U0001f469\u200d\U0001f4bb and \uff34\uff25\uff38\uff34\u3002"
    assert redact(text)[0] is text
    token = "gh" + "p_" + fake(MIX, 36)
    assert redact(text + " " + token)[0] == text + " [redacted:github-token]"


@pytest.mark.parametrize("odd", ["\ud800", "\x00", "\udfff\x00\ud800", "\u0130", "\U0010ffff"])
def test_odd_characters_neither_raise_nor_hide_a_secret(odd: str) -> None:
    assert redact(odd) == (odd, ())
    token = "gh" + "p_" + fake(MIX, 36)
    assert redact(odd + token + odd)[0] == f"{odd}[redacted:github-token]{odd}"


PIECES = st.one_of(
    st.text(st.characters(), max_size=8),
    st.sampled_from([secret for _, _, secret, _ in CASES] + [secret[:-1] for _, _, secret, _ in CASES]),
    st.sampled_from([before for _, before, _, _ in CASES] + [before for before, _, _ in ASSIGNED]),
    st.sampled_from(["=", ": ", "-", "_", ".", "@", "://", '"', "'", " ", "\n", "&", "[", "]", "[redacted:jwt]", "\\"]),
    st.sampled_from(["password", "token=", "--token ", "secret is ", "Authorization: ", "eyJ", "-----", "\u200b"]),
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    clean, kinds = redact(text)
    assert redact(clean) == (clean, ())
    assert list(kinds) == sorted(set(kinds))
    if not kinds:
        assert clean is text


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_no_text_raises(text: str) -> None:
    clean, _ = redact(text)
    assert redact(clean) == (clean, ())


@pytest.mark.parametrize("case", [*CASES, *[("assigned-secret", *case) for case in ASSIGNED]])
def test_the_redacted_text_of_each_kind_is_stable(case: tuple[str, str, str, str]) -> None:
    clean, _ = redact("".join(case[1:]))
    assert redact(clean) == (clean, ())


HOSTILE = [
    "a",
    "sk-",
    "-eyJ",
    "eyJaaaaaaaa.",
    "-----BEGIN ",
    "-----BE" + "GIN PRIVATE KEY-----\n",
    "-----BE" + "GIN PRIVATE KEY-----A",
    "password=",
    "password='",
    'token="\\"',
    "--token a1",
    "password: ",
    "api_key=a1B2",
    "://a:",
    "://:@",
    "curl -u",
    "curl ",
    "Cookie: a=b; ",
    "cookie:a=b;a=b;a=b;a=b;a=b;",
    "xoxb-",
    "aws_secret",
    "cf_key",
    "0a1b2c3d",
    "A1.",
    "{",
    " ",
    "\n",
    "login a password ",
    "authorization: bearer ",
    "gh" + "p_" + "a1B2" * 9 + "-" + "AK" + "IA" + "A1B2" * 4 + ".",
    'private_key":"-----BE' + "GIN PRIVATE KEY-----",
    "Private-Lines: 1\nAAAA\n",
    "\uff50assword=",
    "\u200bsk-",
    "connect('a', ",
    "the password to ",
    "root / ",
    " -u a -p ",
    "echo a | ",
    "1,",
    "a,password\n",
    "ssh a (",
    "?key=",
    "a@b.cd / ",
    "x-a: ",
    "name: token\nvalue: ",
    "id/pw: a/",
]


def seconds(text: str) -> float:
    """CPU time of the fastest of three runs."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        redact(text)
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize("unit", HOSTILE)
def test_time_grows_linearly_with_the_text(unit: str) -> None:
    """Four times the text takes about four times as long; were it quadratic, sixteen times."""
    small, large = (unit * (size // len(unit)) for size in (16_384, 65_536))
    assert any(seconds(large) < 9 * max(seconds(small), 1e-4) for _ in range(3))


def test_a_secret_that_goes_on_in_the_next_line_is_replaced_in_both() -> None:
    first, second = fake(MIX, 20), fake(MIX[::-1], 20)
    clean, _ = redact(f'secretKey = "{first}" +\n  "{second}"')
    assert clean == 'secretKey = "[redacted:assigned-secret]" +\n  "[redacted:assigned-secret]"'
