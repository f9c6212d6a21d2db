"""The look of secrets, one row each: a kind, the literals of which one must occur, and a pattern. Data for `redact`.

A `·` in a literal stands for a space. A pattern without a group is a token and gets word boundaries; one with a group
carries its own context, and only the group that matched is replaced. Every repetition that could be entered again is
possessive or bounded.
"""

from __future__ import annotations

# Between a name and its value: `NAME=v`, `"name": "v"`, `name => 'v'`, `\"name\": \"v\"`, `name is v`.
_TO = r"""(?:\\?["'`]\]?)?[ \t]{0,4}(?:=>|:=|={1,3}|:|[ \t]is[ \t])[ \t]{0,4}\\?["'`]?"""
_PEM = r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

# A word that may be one of a recovery phrase; none of these are in any list of such words.
_SEED_WORD = (
    r"(?:\d{1,2}[.)][ \t]?)?(?!(?:the|and|for|are|was|with|from|not|has|our|but|were|your)\b)"
    r"[a-z]{3,8}\b(?![,;'-])"
)

# (kind, literals of which one must occur, pattern).
# The order matters: blocks come before what may occur inside them, known formats before guesses from context.
TABLE: tuple[tuple[str, str, str], ...] = (
    ("gcp-service-account", "private_key", rf'private_key\\?"\s{{0,4}}:\s{{0,4}}\\?"({_PEM}[^"]{{16,8192}}+(?<!\\))'),
    # A whole block, or, where the text was cut off before its end, the lines that can only be key material.
    ("private-key", "-----BEGIN ", rf"({_PEM}(?:(?:[^-]|-(?!----))*+-----END [A-Z0-9 ]{{0,40}}-----"
     r"|(?:\s{0,4}[A-Z][A-Za-z-]{0,20}: [^\n]{0,120}\n)*+(?:(?:[\s>]|\\[nr]){0,16}+[A-Za-z0-9+/=]{16,}+)++))"),
    ("putty-private-key", "Private-Lines:",
     r"Private-Lines: \d{1,4}\r?\n([A-Za-z0-9+/=]{1,100}+(?=\s|\Z)(?:\r?\n[A-Za-z0-9+/=]{1,100}+(?=\s|\Z))*+)"),
    ("private-key", "LS0tLS1CRUdJTi", r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{40,}+={0,2"
     r"}"),  # the same in base64, as in a kubeconfig
    ("jwk-private-key", "kty", r"""\\?"(?:d|p|q|dp|dq|qi|k)\\?"\s{0,4}:\s{0,4}\\?"([\w-]{16,}+)"""),
    ("age-secret-key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{58,}+"),
    # Code hosting, packages, builds
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,}+"),
    ("github-fine-grained-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{36,}+"),
    ("gitlab-token", "glpat- gldt- glrt- glrtr- glptt- glcbt- glft- glimt- glagent- gloas- glsoat- glffct- GR1348941",
     r"(?:gl(?:pat|dt|rtr?|ptt|cbt|ft|imt|agent|oas|soat|ffct)-|GR1348941)[\w-]{20,}+(?:\.[a-z0-9.]{2,}+)?"),
    ("bitbucket-token", "ATBB", r"ATBB[A-Za-z0-9]{32,}+"),
    ("atlassian-token", "ATATT3 ATCTT3", r"AT[AC]TT3[\w-]{60,}+(?:=[0-9A-F]{8})?"),
    ("npm-token", "npm_", r"npm_[A-Za-z0-9]{36,}+"),
    ("pypi-token", "pypi-AgE", r"pypi-AgE[\w-]{40,}+"),
    ("rubygems-key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    ("crates-io-token", "cio", r"cio[A-Za-z0-9]{32}"),
    ("nuget-key", "oy2", r"oy2[a-z0-9]{43}"),
    ("docker-hub-token", "dckr_", r"dckr_[po]at_[\w-]{27,}+"),
    ("artifactory-key", "AKCp", r"AKCp[A-Za-z0-9]{69}"),
    ("sonarqube-token", "squ_ sqp_ sqa_", r"sq[upa]_[0-9a-f]{40}"),
    ("circleci-token", "CCIPAT_ CCIPRJ_", r"CCIP(?:AT|RJ)_[A-Za-z0-9]{16,}_[0-9a-f]{40}"),
    ("buildkite-token", "bkua_", r"bkua_[0-9a-f]{40}"),
    # Clouds and hosting
    ("aws-access-key-id", "AKIA ASIA ABIA ACCA", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"),
    ("aws-secret-key", "aws access", r"(?i)(?:aws[\w.-]{0,16}secret[\w.-]{0,16}|secret[_. -]?access[_. -]?key)"
     rf"{_TO}([A-Za-z0-9/+]{{40}})(?![A-Za-z0-9/+=])"),
    ("aws-session-token", "session", rf"(?i)session[_-]?token{_TO}([A-Za-z0-9/+]{{100,}}+={{0,2}})"),
    ("gcp-api-key", "AIza", r"AIza[\w-]{35}"),
    ("google-oauth-secret", "GOCSPX-", r"GOCSPX-[\w-]{24,}+"),
    ("google-oauth-token", "ya29. 1//0", r"ya29\.[\w-]{30,}+|1//0[\w-]{40,}+"),
    ("azure-storage-key", "accountkey sharedaccesskey",
     r"(?i)(?:accountkey|sharedaccesskey)[ ]?=[ ]?([a-z0-9+/]{40,}+={0,2})"),
    ("azure-sas", "sig=", r"(?<![A-Za-z0-9])sig=([A-Za-z0-9+/]{43}=|(?:[A-Za-z0-9]|%[0-9A-Fa-f]{2}){43,}+)"),
    ("azure-client-secret", "Q~", r"[\w~.]{3}\dQ~[\w~.-]{31,34}"),
    ("signed-url", "-Signature=", r"X-(?:Amz|Goog)-Signature=([0-9a-f]{64,}+)"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[por]_v1_[0-9a-f]{64}"),
    ("heroku-key", "heroku", rf"(?i)heroku[\w.-]{{0,24}}{_TO}({_UUID})"),
    ("heroku-key", "HRKU-", r"HRKU-[\w-]{36,}+"),
    ("cloudflare-key", "cloudflare cf_ cf-",
     rf"(?i)(?<![a-z0-9])(?:cloudflare|cf)[\w.-]{{0,24}}(?:token|key|secret){_TO}([\w-]{{37,40}})(?![\w-])"),
    ("cloudflare-key", "v1.0- cfut_ cfat_ cfk_", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}+|cf(?:ut|at|k)_[A-Za-z0-9]{40,}+"),
    ("fly-token", "fo1_ fm1a_ fm1r_ fm2_", r"(?:fo1_|fm1[ar]_|fm2_)[A-Za-z0-9+/_-]{40,}+=*"),
    ("netlify-token", "nfp_", r"nfp_[A-Za-z0-9]{36,}+"),
    ("render-key", "rnd_", r"rnd_[A-Za-z0-9]{28,}+"),
    ("supabase-key", "sbp_ sb_secret_", r"sbp_[0-9a-f]{40}|sb_secret_[\w-]{28,}+"),
    ("neon-key", "napi_", r"napi_[a-z0-9]{60,}+"),
    ("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w.-]{32,}+"),
    ("databricks-token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?"),
    ("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}+"),
    ("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{24,}+"),
    ("doppler-token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}+"),
    ("1password-token", "ops_eyJ", r"ops_eyJ[\w+/-]{60,}+=*"),
    ("pulumi-token", "pul-", r"pul-[0-9a-f]{40}"),
    ("tailscale-key", "tskey-", r"tskey-[a-z]{3,12}-[A-Za-z0-9]{10,}(?:-[A-Za-z0-9]{16,}+)?"),
    # Models
    ("anthropic-key", "sk-ant-", r"sk-ant-[\w-]{24,}+"),
    ("openrouter-key", "sk-or-", r"sk-or-v1-[0-9a-f]{48,}+"),
    ("openai-key", "sk-", r"sk-(?:(?:proj|svcacct|admin|None)-[\w-]{24,}+|(?=[A-Za-z0-9]{0,40}\d)[A-Za-z0-9]{24,}+)"),
    ("huggingface-token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{32,}+"),
    ("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{40,}+"),
    ("xai-key", "xai-", r"xai-[A-Za-z0-9]{60,}+"),
    ("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,}+"),
    ("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37,}+"),
    ("langsmith-key", "lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    # Chat, mail, money, work
    ("slack-token", "xox xapp-", r"(?:xox[a-z](?:\.xox[a-z])?|xapp)-(?=[\w-]{0,24}\d)[A-Za-z0-9-]{16,}+"),
    ("slack-webhook", "hooks.slack.com/",
     r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9]{6,}+/[A-Za-z0-9]{6,}+/[A-Za-z0-9/]{16,}+)"),
    ("teams-webhook", ".webhook.office.com/",
     r"\.webhook\.office\.com/webhookb2/([\w@-]{36,}+/[A-Za-z]{1,40}+/[\w/-]{32,}+)"),
    ("discord-webhook", "/webhooks/", r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{15,22}/([\w-]{50,}+)"),
    ("discord-bot-token", "MT MD Mj Mz ND NT Nj Nz OD OT", r"[MNO][DTjz][\w-]{22,26}\.[\w-]{6}\.[\w-]{27,}+"),
    ("telegram-bot-token", ":AA", r"\d{8,10}:AA[\w-]{32,}+"),
    ("twilio-key", "SK", r"SK[0-9a-f]{32}"),
    ("twilio-key", "twilio", rf"(?i)twilio[\w.-]{{0,24}}(?:token|secret|key){_TO}([0-9a-f]{{32}})(?![0-9a-z])"),
    ("sendgrid-key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{32,}+"),
    ("mailgun-key", "key-", r"key-[0-9a-f]{32}"),
    ("mailgun-key", "mailgun", rf"(?i)mailgun[\w.-]{{0,24}}{_TO}([0-9a-f]{{32}}-[0-9a-f]{{8}}-[0-9a-f]{{8}})"),
    ("mailchimp-key", "-us", r"[0-9a-f]{32}-us\d{1,2}"),
    ("resend-key", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}+"),
    ("stripe-key", "k_live_ k_test_ k_prod_", r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,}+"),
    ("webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/]{24,}+=*"),
    ("square-token", "sq0atp- sq0csp- EAAA", r"sq0(?:atp|csp)-[\w-]{22,}+|(?<![/+])EAAA[\w-]{60}(?![/+=])"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("linear-key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}+"),
    ("notion-token", "ntn_ secret_", r"ntn_[A-Za-z0-9]{40,}+|secret_[A-Za-z0-9]{43}"),
    ("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("figma-token", "figd_", r"figd_[\w-]{36,}+"),
    ("postman-key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    # Watching
    ("datadog-key", "datadog dd_ dd-", r"(?i)(?<![a-z0-9])(?:datadog|dd)[\w.-]{0,24}key"
     rf"{_TO}([0-9a-f]{{40}}|[0-9a-f]{{32}})(?![0-9a-z])"),
    ("newrelic-key", "NRAK- NRII- NRRA- NRJS- NRAL", r"NR(?:AK|II|RA|JS)-[\w-]{19,}+|[0-9a-f]{36}NRAL"),
    ("sentry-token", "sntrys_ sntryu_", r"sntry[su]_[\w+/-]{40,}+=*"),
    ("sentry-dsn", "sentry", r"(?i)://([0-9a-f]{32}(?::[0-9a-f]{32})?)@[\w.-]{0,60}sentry"),
    ("grafana-token", "glc_ glsa_", r"glc_[A-Za-z0-9+/]{32,}+=*|glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}"),
    ("dynatrace-token", "dt0", r"dt0[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("mapbox-token", "sk.eyJ", r"sk\.eyJ[\w-]{20,}+\.[\w-]{16,}+"),
    ("prefixed-token", "_ - .", r"(?<![\w+/=.-])[A-Za-z]{2,10}\d?[_.-](?:[a-z0-9]{2,8}[_.-]){0,2}[A-Za-z0-9]{"
     r"24,}+(?![+/=])"),
    ("password-hash", "$apr1$ $2a$ $2b$ $2x$ $2y$ $1$ $5$ $6$ $7$ $y$ $argon2 $scrypt$",
     r"\$(?:apr1|[1567y]|2[abxy]|argon2id?|argon2d|scrypt)\$[\w./$+=,-]{20,}+"),
    ("encoded-key", "base64:", r"base64:[A-Za-z0-9+/]{32,}+={0,2}"),
    # Shapes of any vendor. The lookbehind lets a run of `-eyJ` start only one search.
    ("jwt", "eyJ",
     r"(?<![\w-])eyJ[\w-]{8,}+\.(?:eyJ[\w-]{4,}+\.[\w-]{8,}+|[\w-]*+\.[\w-]{8,}+\.[\w-]{8,}+\.[\w-]{8,}+)"),
    ("bearer-token", "bearer", r"(?i)(?<![a-z0-9])bearer[ \t]{1,4}([\w.~+/-]{16,}+={0,2})"),
    ("bearer-token", "authorization",
     rf"(?i)authorization{_TO}(?:bearer|token|apikey|bot|key)[ \t]{{1,4}}([\w.~+/-]{{8,}}+={{0,2}})"),
    ("basic-auth", "authorization", rf"(?i)authorization{_TO}basic[ \t]{{1,4}}([a-z0-9+/_-]{{8,}}+={{0,2}})"),
    ("session-cookie", "cookie", r"""(?i)cookie["']?:[ \t]{0,2}["']?(?:[^\s=;"']{1,60}=[^\s;"']{0,200};[ ]?){0,8}"""
     r"""[\w.-]{0,40}(?:sess|sid|auth|token|jwt)[\w.-]{0,20}=([^\s;,"']{12,}+)"""),
    ("curl-password", "curl wget http",
     r"""(?i)(?<![\w.-])(?:curl|wget|https?|xh)(?=[ ])[^\n]{0,200}?[ ](?:-[uUa]|--user|--proxy-user|--auth)[ =]?["']?"""
     r"""[^\s:"'$<{]{1,64}:([^\s"']{3,}+)"""),
    # Commands whose short flag is a password: `-p` with the value attached, then as a word of its own.
    ("command-password", "mysql mariadb 7z rar", r"(?<![\w.-])(?:(?:mysql|mariadb)[\w-]{0,12}|7z[ar]?|(?:un)?"
     r"rar)(?=[ ])"
     r"""[^\n|;]{0,200}?[ ]-p["']?([^\s"'|;&<>=]{4,}+)"""),
    ("command-password", "sshpass login mongo cqlsh influx rabbitmq", r"(?<![\w.-])(?:sshpass|(?:mongo|rabbit"
     r"mq)\w{0,12}|cqlsh|influx|"
     r"""[a-z]{2,12}(?:[ ][a-z]{2,12})?[ ]login)(?=[ ])[^\n|;]{0,200}?[ ]-p[ =]?["']?([^\s"'|;&<>]{4,}+)"""),
    ("command-password", "ldap redis-cli zip sqlcmd mosquitto", r"(?<![\w.-])(?:ldap\w{2,10}(?=[ ])[^\n|;]{0,"
     r"200}?[ ]-w|redis-cli(?=[ ])"
     r"""[^\n|;]{0,200}?[ ]-a|(?:(?:un)?zip|sqlcmd|mosquitto_\w{2,4})(?=[ ])[^\n|;]{0,200}?[ ]-P)[ ]?["']?("""
     r"""[^\s"'|;&<>]{4,}+)"""),
    ("command-password", "pass: smbclient", r"""(?:[ =]pass:|smbclient[ ][^\n|;]{0,200}?-U[ ]?["']?[\w.\\/-"""
     r"""]{1,40}%)([^\s"'|;&<>]{4,}+)"""),
    ("command-password", "securestring user htpasswd openssl chpasswd", r"""(?i)(?:convertto-securestring[ """
     r"""](?:-string[ ])?["']?|net[ ]user[ ][\w.-]{1,40}[ ]"""
     r"""|htpasswd[ ]-\w{0,4}b\w{0,4}[ ]\S{1,80}[ ][\w.-]{1,40}[ ]["']?|openssl[ ]enc[ ][^\n]{0,120}?[ ]-k["""
     r""" ]["']?|chpasswd[ ]<<<[ ]?["']?[\w.-]{1,40}:)([^\s"'|;&<>]{4,}+)"""),
    ("command-password", "chpasswd", r"""["' ][\w.-]{1,40}:([^\s"'|]{4,64})["']?[ ]?\|[ ]?(?:sudo[ ])?chpasswd"""),
    ("device-password", "password·7 password·5 secret·5 secret·9 secret·8 key·7 server·community -server·key "
     "password·0 secret·0",
     r"(?:(?:password|secret|key)[ ][05789]|(?:snmp-server[ ]community)|(?:tacacs|radius)-server[ ]key)[ ](?!"
     r"public\b|private\b)([^\s\"']{6,}+)"),
    ("recovery-code", "recovery·code backup·code", r"(?i)(?:recovery|backup)[ ]codes?(?:[ ]is)?[:\s]{1,4}((?:"
     r"(?=[a-z-]{0,9}\d)[a-z0-9]{4,10}-[a-z0-9]{4,10}[ ,\n]{0,3}){1,20})"),
    ("url-password", "://", r"://([A-Za-z0-9_-]{20,}+)@"),
    ("login-password", "@", r"(?<![\w/.:@-])[a-z][\w.-]{1,32}:([^\s:@/\"'<>]{6,64})@(?=\d{1,3}\.\d|[\w-]{1,40"
     r"}\.[\w-])"),
    ("named-value", "value", r"""(?i)["']?(?:name|key)["']?[ ]{0,2}[:=][ ]{0,2}["']?[\w.-]{0,40}(?:password"""
     r"""|passwd|pwd|secret|token|api_?key|_key|_pass)["']?[\s,]{1,24}"""
     r"""["']?value["']?[ ]{0,2}[:=][ ]{0,2}["']?([^\s"'<>]{4,256}+)"""),
    ("pgpass-password", ":5432: :5433: :6432: :3306: :*:",
     r"(?m)^[\w.*-]{1,80}:(?:\d{2,5}|\*):[\w*-]{1,60}:[\w.*-]{1,60}:([^\s:]{4,80})$"),
    ("registry-auth", "auth", r"""["']?_?auth["']?[ \t]{0,4}[:=][ \t]{0,4}["']?([A-Za-z0-9+/]{12,}+={0,2})("""
     r"""?![\w.(])"""),
    ("positional-secret", "connect( connection( login( auth( authenticate( twilio algolia client( "
     "credentials(", r"""(?i)(?:connect\w{0,12}|login|auth\w{0,12}|twilio['"]?\)?|"""
     r"""algolia\w{0,12}|client|credentials?)\((?:[^()\n]{0,200},)?[ ]{0,2}["']([^"'\s]{8,128}+)["'][ ]{0,2}\)"""),
    # Said rather than written: numbers, words and answers that are secrets only because of what stands before them.
    ("pin", "pin· pin: pin= puk· puk: otp· otp: ·code· ·code: -code", r"(?i)(?<![a-z0-9_.-])(?:pin|puk|otp|(?"
     r":2fa|verification|unlock|door|alarm|security)[ -]code)(?:[ -]?(?:code|number))?"
     r"(?:[ ](?:for|of|to|fürs?|vom)(?:[ ][\w-]{1,20}){1,3})?(?:[ ]?[:=]|[ ](?:is|ist|lautet|es|est|é|è))[ ]{"
     r"0,2}(\d{4,8})(?![\w.]*\w)"),
    ("totp-seed", "seed totp 2fa otp mfa authenticator", r"(?i:seed|totp|2fa|otp|mfa|authenticator)[^\n]{0,40"
     r"}?(?:[:=]|[ ]is)[ \"']{0,3}"
     r"([A-Z2-7]{16,64}|[A-Z2-7]{4}(?:[ -][A-Z2-7]{4}){3,15})(?![\w/+=-])"),
    ("mnemonic", "mnemonic seed recovery wallet phrase bip", r"(?i:mnemonic|seed|recovery|wallet|phrase|bip-?"
     r"39)[^\n]{0,80}?[:=\n][\s\"'>`-]{0,6}"
     rf"({_SEED_WORD}(?:\s{{1,4}}{_SEED_WORD}){{11,23}}+)(?![a-z])"),
    ("wifi-key", "wifi wi-fi wlan wpa ssid hotspot", r"(?i)(?:wi-?fi|wlan|wpa2?|hotspot|ssid)[^\n]{0,60}?(?<!"
     r"[a-z])(?:key|pass\w{0,6}|pw|code|psk)"
     r"[ ]{0,2}(?:[:=]|is)?[ ]{0,2}[\"']?([^\s,;()\"']{8,63})"),
    ("said-password", "passw ·pw kennwort contrase senha passe ·pin", r"(?i)(?:passwor[dt]|passwd|kennwort|co"
     r"ntraseña|senha|mot de passe|(?<![a-z])pw|(?<![a-z])pin)"
     r"(?![\w-])[^\n?]{0,60}\?[^\n]{0,20}\n(?:[^\n]{0,40}?[:>][ ]{1,2})?([^\s\"']{6,64}+)[ \t]*+(?:\n|\Z)"),
    ("said-password", "cred login zugang account", r"(?i)(?<![a-z])(?:creds?|credentials|logins?|zugang(?:sda"
     r"ten)?|account)(?:[ ](?:is|are|for[ ][^\n:]{1,30}))?"
     r"[:=]?[ ]{1,2}[\w.@+-]{2,64}[ ]{0,2}[/|:][ ]{0,2}([^\s,;()\"'/:]{8,64})(?![/:\w])"),
    ("plain-password", "pass pwd kennwort", r"""(?im)^[ \t>*-]{0,16}(?:[\w.-]{1,24}[ ]){0,3}["']?[\w"""
     r""".-]{0,40}?(?:passwor[dt]|passwd|passphrase|pwd|kennwort|_pass|(?<![a-z])pass)"""
     r"""(?:["']?:[ \t]{1,4}(?:["']([a-z]{6,32})["'],?|([a-z]{6,32}))|=(?:["']([a-z]{6,32})["']|([a-z]{6,32"""
     r"""}))|[ ]=[ ]["']([a-z]{6,32})["'])[ \t]{0,8}(?:\#[^\n]{0,200})?$"""),
    ("plain-password", "pass pwd", r"(?<![A-Za-z])[A-Z][A-Z0-9_]{0,40}(?:PASSWORD|PASSWD|_PASS|PWD)=([A-Za-z]"
     r"{5,32})(?=[\s;\"']|\Z)"),
    ("plain-password", "passw kennwort contrase", r"""(?i)(?:passwor[dt]|kennwort|contraseña|mot de passe)("""
     r"""?:[ ][a-z]{1,16}){0,4}?[ ](?:is|ist|lautet|es|est|=|:)[ ]["'`]([a-z]{5,32})["'`]"""),
    ("passphrase", "passw passphrase", r"(?i)(?:passwor[dt]|passphrase)(?:[ ][a-z]{1,16}){0,4}?(?:[ ]is|[ ]?["
     r":=])[ ][\"']?([a-z]{3,10}(?:-[a-z]{3,10}){3,5})(?![\w-])"),
    ("passphrase", "psk passphrase", r"""(?im)(?<![a-z])(?:psk|passphrase)(?:[ ]{0,2}[:=][ ]{0,2}|[ ]is[ ])"""
     r"""(?:["']([a-z]{2,16}(?:[ -][a-z]{2,16}){2,9})["']|(?<==[ ])([a-z]{2,16}(?:[ ][a-z]{2,16}){2,9})$)"""),
    ("netrc-password", "login",
     r"(?i)(?:default|machine\s{1,4}\S{1,100})\s{1,4}login\s{1,4}\S{1,100}\s{1,4}password\s{1,4}(\S{4,}+)"),
    ("url-password", "://", r"""://[^\s/:@"'<>`\[]{0,128}+:([^\s/"'<>`]{1,256})@(?=[\w.$\[{%-])"""),
    # The key of the guess; `_assigned` reads on from here.
    ("assigned-secret", "passw passp passc passe _pass pass: pass= pass\" pass' storepass keypass "
     "requirepass pwd ·pw kennwort contrase senha wachtwoord parola hasło heslo jelszó lösenord adgangskode "
     "salasana şifre пароль 密码 密碼 口令 パスワード 비밀번호 psk identified secret token key credential",
     r"(?:(?P<word>passwor[dt]|passwd|passphrase|passcode|pwd|_pass|(?:store|key|require|(?<![a-z]))pass(?=["
     r"\"'`:= ])|masterauth|identified by|kennwort"
     r"|contrase(?:ñ|n)a|senha|mot de passe|wachtwoord|parola|hasło|heslo|jelszó|lösenord|adgangskode|salasan"
     r"a|şifre|пароль|密码|密碼|口令|パスワード|비밀번호|(?<![a-z])(?:pw|psk)(?![a-z]))"
     r"|secret(?:[_-]?(?:access[_-]?)?key)?|token|credentials?"
     r"|(?:api|access|auth|private|encryption|signing|master|account|shared|admin|app|server|service|hmac|ses"
     r"sion|cookie|jwt|storage|deploy|license|root)[ _-]?key)"
     r"(?:[_-]?(?:value|base|prod|dev|staging|live|\d{1,2}))?"
     r"""(?P<shut>(?:\\?["'`]\]?|\*\*)?)(?:[ \t]{0,8}(?:=>|:=|!==?|={1,3}|:[ \t]?[a-z_][\w.]{0,20}(?: \| none)?[ \t]="""
     r"|[:\uff1a\uff1d])(?:\*\*)?[ \t]{0,8}(?P<split>(?:[|>][+-]?[ \t]{0,4})?\r?\n[ \t]{1,16})?"
     r"|(?:[ ](?:for|of|to|on)(?:[ ](?!is\b|was\b)[\w./-]{1,40}){1,3})?[ \t]{1,4}(?:is|was):?[ \t]{1,4}"
     r"|(?P<said>(?:[ ][^\s\d:=,;.!?()\"']{1,24}){0,5}?(?:[ ](?:is|ist|lautet|es|est|è|é|war|jest|on|är)|[ ]?"
     r":|[ ]?->|[ ]-|[ ]\([\w ]{1,20}\)[ ]?:?|は|是)[ ]{0,2}(?<![\w])|は|是)"
     r"""|(?P<gap>[ \t]{1,4})|(?P<pair>,[ \t]{0,4}(?=["'])|>))"""),
    ("nearby-secret", "pass pw kennwort contrase senha wachtwoord login cred secret token auth key bearer "
     "webhook jwt hmac wif xprv nsec session",
     r"(\w)"),
)  # fmt: skip
