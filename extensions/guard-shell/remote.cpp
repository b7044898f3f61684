// Tools that act on what others share: clouds, clusters, platforms, networks, databases, brokers, registries, mail, payments. Which
// tool it is decides the family; what it is told to do is judged by the words of its command line, the same for all of them.
#include "interp.hpp"

namespace {

struct Tools {
  Family family;
  const char *names;
};
// Tools with rules of their own (aws, kubectl, terraform, helm, docker, gh, git, npm …) are not listed.
constexpr Tools kTools[] = {
    {Family::Cloud,
     "act_runner algolia bws cap caprover ccloud chalice claudia concourse configcat directus ecctl emqx_ctl env0 fab kamal keycdn medusa mina optimizely payload salt-key sem semaphore "
     "statsig strapi teller zappa acli acorn airflow akamai akeyless aliyun argo argocd atlantis auth0 aviatrix aws-vault awx az azd b2 balena bao berglas bitrise bk boundary bosh buildkite-agent bunny calicoctl camunda cdk ceph cf "
     "chamber checkly chef-server-ctl cilium circleci civo clerk clever cloud66 cloudctl cloudflare-cli cloudflared codefresh codemagic coder colmena conjur consul convox coolify "
     "cpln crm crossplane credstash dagster databricks datadog-ci dapr dcos deployctl deploy-rs devpod devspace dnscontrol dnsimple dnsmadeeasy doctl dog dokku doppler dotcloud drbdadm drone eb "
     "ecs-cli eksctl equinix-metal esxcli exo fastly firebase fission flagsmith flagsmith-cli flarectl fleetctl flux fly flyctl foreman-maintain gam gandi gcloud gcore gigalixir "
     "gitlab-runner gluster govc grafana-cli grafanactl grr growthbook hal hammer harbor harness hashi-up hcloud hcp helmfile heroku humctl ibmcloud infisical ionosctl ipa istioctl jenkins jenkins-cli "
     "juju k0sctl k3sup kadmin kapp karmadactl kcadm kcctl kfctl kn knife knotc kompose konnect kops kots koyeb krane kubeadm kubecfg kubeone lagoon launchdarkly ldcli leaseweb lightsailctl "
     "linkerd linode-cli livekit-cli lk logcli m365 maas mc mcli metal minio mlflow modal morph nebula netbird netlify newrelic nixops nomad nomad-pack northflank ns1 oc oci "
     "octo octodns-sync octopus okta okteto op opsgenie opta otc ovhai pagerduty-cli pct pd pd-cli pcs pdnsutil platform polaris porter portainer prefect prlctl pulumi puppet pvesh qm qovery "
     "rados railway rancher ray rbd rclone render rndc rosa rudder runpodctl s3cmd s5cmd sacctmgr sam samba-tool scalingo sceptre scontrol scw sdm sentry-cli serverless sf sfdx signoz "
     "sky slcli sls snyk-broker spacectl spacelift sst stackit steampipe supabase surge swctl tailscale talosctl tanzu tccli tctl teleport temporal terminus tfc tfe tkn travis triton tsh "
     "turbo-remote twingate unleash unleash-cli upcloud upctl upsun vault vcluster vela velero vercel virtctl vtctl vtctldclient vultr vultr-cli waypoint wandb werf wercker woodpecker-cli workos "
     "wp wrangler xe yc ycli zarf zeet zenml zerotier-cli zbctl zitadel"},
    {Family::Database,
     "aerospike aql arangosh asadm asinfo astra atlas barman bq cbq cockroach confluent convex couchbase-cli curator curator_cli cypher-shell dbt edgedb elasticdump esctl etcdctl fauna fdbcli gel hadoop "
     "hasura hbase hdfs influx kaf kafkactl kafka-acls kafka-configs kafka-consumer-groups kafka-delete-records kafka-reassign-partitions kafka-topics kcat ksql ktl litefs meilisearch mqadmin mqsc nats "
     "neo4j-admin neon neonctl neosync nodetool nsqadmin opensearch-cli orientdb patronictl pgbackrest pg_autoctl pg_probackup planetscale pscale pulsar-admin pulsarctl qdrant rabbitmq-queues "
     "rabbitmqadmin rabbitmqctl redpanda repmgr rethinkdb riak-admin rpk rqlite runmqsc snow solr solrctl surreal tarantool tidb-cli timescale tiup turso typesense typesense-cli upstash vespa wal-e wal-g "
     "weaviate xata yb-admin ydb zkCli zkcli zookeeper-shell zilliz"},
    {Family::Outward,
     "anaconda anchor appcenter aptos apprise arweave bitcoin-cli bluesky braintree butler cast charmcraft clasp cloudsmith cosign discord eas fastlane gem-push gitea glab hf huggingface-cli ipfs "
     "jf jfrog jira kaggle linear lncli mailchimp mailgun messagebird near nexmo notation notion npm-cli ntfy package_cloud packagecloud paddle paypal plivo postmark quay regctl replicate resend sendgrid shopify "
     "signal-cli slack snapcraft solana spl-token square stripe sui tea telegram-send toot twilio vonage web-ext"},
};
// One bit a name by its hash, made by the compiler: nearly all other commands are ruled out by it without going through the lists.
struct Bits {
  uint8_t set[512]{};
  static constexpr uint32_t of(const char *p, size_t n) {
    uint32_t h = 0;
    for (size_t i = 0; i < n; i++) h = h * 31 + static_cast<uint8_t>(p[i]);
    return h % 4096;
  }
  constexpr Bits() {
    for (const Tools &t : kTools)
      for (const char *p = t.names; *p;) {
        size_t n = 0;
        while (p[n] && p[n] != ' ') n++;
        uint32_t bit = of(p, n);
        set[bit / 8] = static_cast<uint8_t>(set[bit / 8] | 1u << bit % 8);
        for (p += n; *p == ' ';) p++;
      }
  }
};
constexpr Bits kBits;
bool knownTool(Str name, Family *family) {
  uint32_t bit = Bits::of(name.p, name.n);
  if (!(kBits.set[bit / 8] >> bit % 8 & 1)) return false;
  for (const Tools &t : kTools)
    if (anyOf(name, t.names)) return *family = t.family, true;
  return false;
}

// What a word of a command line says: None of a noun; Soft of a word that may be either ("build", "config").
enum class Verb : uint8_t { None, Soft, Look, Change, Destroy };

const char kDestroyStems[] = "delet* destroy* purg* wipe* wiping flush* truncat* revok* terminat* evict* overwrit* downgrad* prune* pruning decommission* deregist* unregist* uninstall* erase* erasing nuke* "
                             "detach* disabl* remov* rollback* restor* reset* clear* kill* drain* deactivat* unpublish* undeploy* unlink* expire* expung* invalidat* forget* obliterat* teardown* "
                             "deprovision* demot* rm rmr rmi rb del drop dropall unset empty revert undo cancel down stop shutdown halt abort suspend fence gc cleanup yank ban retire scrub leave void fresh kick disconnect";
const char kChanges[] = "accept change copy cp eval mirror mk mv run store sync ack acknowledge activate add alter append apply approve assign associate attach attest authorize bind bootstrap bounce broadcast capture charge close complete confirm "
                        "cordon create deploy dispatch edit enable exec execute fail failover finalize fire fork freeze grant impersonate import ingest insert install invite invoke join label launch load lock "
                        "merge migrate modify move mutate mute patch pause pay post produce promote provision pub publish push put reassign rebalance reboot rebuild recreate refund register reimage reindex "
                        "reinit release rename renew reopen repair replace replay republish rerun resize resolve restart resume retry rotate scale seal send sendtoaddress sendmany payinvoice set ship sign "
                        "silence ssh submit subscribe swap switchover tag taint toggle transfer transition trigger unban unfreeze unlock unmute unpause unseal up update upgrade upload upsert write archive "
                        "deprecate reconfigure realign rekey dropindex enforce expand";
const char kLooks[] = "compile get list ls la describe show info inspect view read health ping tail head cat peek watch help whoami who diff preview validate lint fmt format explain top verify doctor "
                      "find lookup count download fetch pull outdated outputs output synth render completion completions doc man open browse ui login logout dev serve "
                      "local develop wait use select new gen generate scaffold codegen types typegen estimate simulate prompt "
                      "whois locate sample compare print dump listen sub consume";
const char kSoft[] = "build test tests config configuration events event log logs plan version versions history template templates report reports ps job image images init review backup backups env secrets stat status stats check query search "
                     "export metrics usage cost graph tree trace docs dashboard proxy connect tunnel forward link target server";
const char kSoftLooks[] = "status stat stats check logs log history events event version versions plan search query export report reports docs metrics usage";
// The first operand that makes the rest a matter of this machine's own settings.
const char kOwnSettings[] = "config configure context contexts profile profiles plugin plugins extension extensions alias component components emulators emulator auth telemetry";
// Options of many tools that are followed by a value.
const char kValues[] = "-e --env --environment -n --namespace -p --project -c --context --cluster --profile --region -r -R -t --target -u --url -h --host --hostname -s --server -H -a --app -o --output -f --file "
                       "-i -l --stack -S --config --account --org --team --workspace -m -k --endpoint --endpoints --token --key -b --bootstrap-server --broker --brokers --api-key --node -I --service -P --port";

// tokens splits a word at - and _ and where a capital follows a small letter, in lower case; the first and the last are told.
void tokens(Str word, Str *first, Str *last, uint32_t *n) {
  Text t;
  for (size_t i = 0; i < word.n; i++) {
    char c = word.p[i];
    if (i && c >= 'A' && c <= 'Z' && word.p[i - 1] >= 'a' && word.p[i - 1] <= 'z') t.add(' ');
    t.add(c == '-' || c == '_' ? ' ' : lower(c));
  }
  Str s = t.str();
  *n = 0;
  for (size_t i = 0; i < s.n;) {
    while (i < s.n && s.p[i] == ' ') i++;
    size_t b = i;
    while (i < s.n && s.p[i] != ' ') i++;
    if (i == b) break;
    *last = ::sub(s, b, i);
    if (!(*n)++) *first = *last;
  }
}
Verb verbOf(Str word) {
  Str first{}, last{};
  uint32_t n;
  tokens(word, &first, &last, &n);
  if (!n) return Verb::None;
  if (n == 1) {
    if (anyOf(first, kLooks)) return Verb::Look;
    if (anyOf(first, kSoft)) return Verb::Soft;
    if (anyOf(first, kChanges)) return Verb::Change;
    return anyGlob(first, kDestroyStems) ? Verb::Destroy : Verb::None;
  }
  if (anyGlob(first, "get list ls describe show view read lookup validate test check verify export download generate")) return Verb::Look;
  if (anyGlob(first, kDestroyStems) || eq(first, "force") || anyGlob(last, kDestroyStems)) return Verb::Destroy;
  if (anyOf(last, "list get show status info logs kubeconfig credentials")) return Verb::Look;
  if (anyOf(first, kChanges) || anyOf(first, "run switch trigger") || anyOf(last, kChanges)) return Verb::Change;
  return Verb::None;
}

// words are the operands that may be verbs: without paths, addresses, sentences and values; "a:b" is two.
void wordsOf(const Command &c, Vec<Str> *out, bool dashed) {
  for (uint32_t i = 1; i < c.argv.n && out->n < 6; i++) {
    Str a = without(c.argv[i], kUnset);
    if (a.n > 1 && a.p[0] == '-') {
      if (dashed && a.p[1] != '-') a = ::sub(a, 1, a.n);
      else {
        if (anyOf(a, kValues) && i + 1 < c.argv.n && c.argv[i + 1].n && c.argv[i + 1].p[0] != '-') i++;
        continue;
      }
    }
    bool word = a.n && a.n < 48 && !isDigit(a.p[0]);
    for (size_t k = 0; k < a.n; k++) word &= isName(a.p[k]) || has(WEIR_S(":-."), a.p[k]);
    if (!word) {
      out->push(WEIR_S(""));
      continue;
    }
    size_t b = 0;
    for (size_t k = 0; k < a.n; k++) // vm.destroy: the last part
      if (a.p[k] == '.') b = k + 1;
    for (size_t k = b; k <= a.n; k++)
      if (k == a.n || a.p[k] == ':') {
        out->push(::sub(a, b, k));
        b = k + 1;
      }
  }
}

// What the words say together.
Verb judgeWords(Str name, const Vec<Str> &words) {
  bool own = words.n && anyOf(words[0], kOwnSettings) && (!anyOf(name, "ceph consul circleci firebase heroku vercel") || eq(words[0], "emulators"));
  bool local = anyOf(name, "railway doppler infisical dapr mlflow dbt stripe vercel netlify eas drone woodpecker-cli"); // what their "run" runs
  for (uint32_t i = 0; i < words.n; i++) {
    if (anyOf(words[i], "run exec") && local) return Verb::Look;
    Verb v = verbOf(words[i]), next = i + 1 < words.n ? verbOf(words[i + 1]) : Verb::None;
    switch (v) {
    case Verb::Look: return v;
    case Verb::Soft: // a noun if a verb follows
      if (anyOf(words[i], "stat stats status")) return Verb::Look;
      if (next == Verb::Change || next == Verb::Destroy) break;
      if (next == Verb::None && i + 2 < words.n && verbOf(words[i + 2]) == Verb::Destroy) return Verb::Destroy;
      return Verb::Look;
    case Verb::Change:
      if (next == Verb::Look || (next == Verb::Soft && anyOf(words[i + 1], kSoftLooks)) || (anyOf(name, "aptos sui") && eq(words[i], "move")) || (eq(words[i], "migrate") && i + 1 < words.n)) break; // a noun: release list
      if (eq(words[i], "run") && i + 2 < words.n && verbOf(words[i + 2]) == Verb::Look) break; // run services list
      if (next == Verb::Destroy) return next; // import cancel
      if (i && anyOf(words[i - 1], "migration migrations migrate seed") && anyOf(words[i], "create add")) return Verb::Look; // a file of the project
      if (eq(words[i], "set") && i && eq(words[i - 1], "account")) return Verb::Look;
      return own ? Verb::Look : v;
    case Verb::Destroy:
      if (words[i].p[words[i].n - 1] == 's' && (next == Verb::Look || next == Verb::Soft || next == Verb::Change)) break; // a noun: restores list
      return v;
    default: break;
    }
  }
  return Verb::None;
}

const char kDry[] = "--dry-run --dry-run=* --dryrun --dry --noop --no-op --help --preview --plan --simulate --what-if --whatif --validate-only --check --check-only --no-execute --checkonly";
const char kBold[] = "--force --yes -y --all --prod --production --confirm --no-prompt --noconfirm --no-confirm --assume-yes --auto-approve --yes-i-* --force=true --live --doit --non-interactive --env=prod* prod production";

// Verbs of an unknown tool that are asked about whatever stands with them.
const char kPlainlyDestroys[] = "delete delete-* delete_* destroy destroy-* destroy_* purge wipe drop drop-* terminate terminate-* truncate revoke undeploy decommission deregister deprovision flush_all flushall";

// isBold: does an argument say to go ahead? Asked of every command, so most arguments are ruled out by their first letters.
bool isBold(const Command &c) {
  for (uint32_t i = 1; i < c.argv.n; i++) {
    Str a = c.argv[i];
    if (a.n < 2) continue;
    bool may = a.p[0] == 'p' ? a.p[1] == 'r' : a.p[0] == '-' && (a.n == 2 ? a.p[1] == 'y' : a.p[1] == '-' && has(WEIR_S("fyapcnlde"), a.p[2]));
    if (may && anyGlob(a, kBold)) return true;
  }
  return false;
}

// Names that read, print or keep this machine's own packages: "echo delete --all" does nothing, "pip uninstall -y" is ordinary.
const char kOrdinary[] = "echo printf grep egrep fgrep rg ag ack man info apropos tldr which type whereis help banner figlet expr seq test say notify-send logger npm pnpm yarn bun deno pip pip3 pipx poetry "
                         "pdm uv rye hatch pipenv conda mamba micromamba pixi cargo rustup go gem bundle composer brew nvm fnm pyenv rbenv nodenv asdf mise rtx volta sdk dotnet mix cmake make gmake ninja gradle gradlew mvn bazel "
                         "bazelisk nx turbo lerna rush git hub gh svn hg jj docker podman nerdctl docker-compose podman-compose apt apt-get aptitude dpkg yum dnf zypper pacman apk snap flatpak rpm port vcpkg conan "
                         "pre-commit watchman ccache jest vitest eslint prettier code direnv tmux screen systemctl kubectl aws terraform tofu helm rails rake artisan find fd xargs ls cat sed awk jq yq less head tail "
                         "kill pkill killall chezmoi stow nix nix-env guix opam cabal stack luarocks vagrant minikube kind k3d flutter dart pod xcodebuild swift sqlite3 psql mysql "
                         "task just invoke inv mage nox tox doit grunt gulp earthly dagger cp mv mkdir rm rmdir touch ln tar zip unzip diff cmp sort uniq wc cut tr tee file stat chmod chown du df open "
                         "vim vi nvim nano emacs gsettings dconf tput adb xcrun simctl avdmanager sdkmanager pm2 ollama curl wget ssh scp rsync pytest mocha rspec phpunit playwright cypress bats ctest "
                         "time timeout watch go-task ng vue tsc esbuild vite webpack node-gyp screen code-insiders subl xdg-open espeak wall write aspell dict look spell todo hyperfine trap alias read case "
                         "ipset ip nmcli lxc incus virsh multipass machinectl cryptsetup btrfs zfs";

} // namespace

void sql(Shell &sh, Str text); // databases.cpp

// statements judges text that a store's client is given: SQL, or lines and ;-separated parts that start with a verb.
static void statements(Shell &sh, Str text) {
  sql(sh, text);
  for (size_t i = 0; i < text.n;) {
    while (i < text.n && (isSpace(text.p[i]) || text.p[i] == ';')) i++;
    size_t b = i;
    while (i < text.n && (isName(text.p[i]) || text.p[i] == '-')) i++;
    Str word = ::sub(text, b, i);
    if (!anyOf(word, "delete drop truncate DELETE DROP TRUNCATE") && verbOf(word) == Verb::Destroy) return sh.w->find(Family::Database, Level::Sure, "deletes or resets data");
    while (i < text.n && text.p[i] != ';' && text.p[i] != '\n') i++;
  }
}

void judgeRemote(Shell &sh, Command &c) {
  Str name = c.name;
  uint32_t from = 0;
  if (eq(name, "java")) // java -jar jenkins-cli.jar delete-job x
    for (uint32_t i = 1; i + 1 < c.argv.n; i++)
      if (eq(c.argv[i], "-jar")) {
        from = i + 1;
        name = baseName(c.argv[from]);
        break;
      }
  static const char *const endings[] = {".sh", ".jar", ".py", ".exe"};
  for (const char *e : endings)
    if (ends(name, e)) name = ::sub(name, 0, name.n - S(e).n);
  Family family = Family::Cloud;
  bool known = knownTool(name, &family);
  bool bold = !known && c.argv.n > 2 && isBold(c);
  if (!known && (c.argv.n < 3 || has(c.argv[0], '/')) && !bold) return; // a program of the project may delete what is its own
  if ((known || bold) && anyArg(c, kDry)) return;
  Command tool;
  for (uint32_t i = from; i < c.argv.n; i++) tool.argv.push(c.argv[i]);
  Vec<Str> words;
  wordsOf(tool, &words, anyOf(name, "hdfs hadoop"));
  if (!known && !bold) {
    for (uint32_t i = 0; i < words.n && i < 3; i++)
      if (anyGlob(words[i], kPlainlyDestroys)) {
        if (!anyOf(name, kOrdinary) && !isShell(name) && !isInterpreter(name) && !anyArg(c, kDry) && !anyArg(c, "*cache* *tmp* *temp* *dist *build *local* *test*") &&
            (!i || verbOf(words[i - 1]) != Verb::Look) && verbOf(words[0]) != Verb::Look)
          sh.w->find(Family::Cloud, Level::Doubt, "destroys something with a tool that is not known");
        return;
      }
    return;
  }
  if (!known) {
    if (anyOf(name, kOrdinary) || isShell(name) || isInterpreter(name) || anyArg(c, "*cache* *tmp* *temp* *dist *build *local*")) return;
    for (uint32_t i = 0; i < words.n && i < 2; i++)
      if (verbOf(words[i]) == Verb::Destroy && !anyOf(words[i], "rb leave void stop down cancel undo abort empty unset gc cleanup") && !anyGlob(words[i], "uninstall* unlink* clear*"))
        return sh.w->find(Family::Cloud, Level::Doubt, "destroys something, whatever stands in the way");
    return;
  }
  if (family == Family::Database) {
    for (Str a : tool.argv)
      if (has(a, ' ')) statements(sh, a);
    if (c.piped && !anyMark(c.in)) statements(sh, c.in);
  }
  Verb v = judgeWords(name, words);
  for (uint32_t i = 1; i < tool.argv.n && (v == Verb::None || v == Verb::Change); i++) { // verbs that are options: --delete, -purge
    Str a = tool.argv[i];
    if (a.n < 3 || a.p[0] != '-') continue;
    a = ::sub(a, a.p[1] == '-' ? 2 : 1, a.n);
    if (anyGlob(a, "delete* destroy* purge* wipe* truncate* drop* overwrite* prune* remove* expunge* reset-offsets erase*")) v = Verb::Destroy;
    else if (v == Verb::None && anyOf(a, "alter broadcast apply doit execute replace replace-all confirm live prod production yes force auto-approve all")) v = Verb::Change;
  }
  if (v == Verb::Change && anyOf(name, "rclone s3cmd s5cmd gcloud b2 oci hdfs hadoop")) { // copied from there to here
    bool copies = false;
    for (Str w : words) copies |= anyOf(w, "cp copy copyto mv sync mirror");
    if (copies && !has(tool.argv[tool.argv.n - 1], ':')) v = Verb::Look;
  }
  bool here = anyArg(c, "*localhost* *127.0.0.1* *://0.0.0.0* --local --offline --emulator --export");
  if (v == Verb::Destroy) sh.w->find(family, Level::Sure, family == Family::Database ? "deletes or resets data" : "deletes, resets or stops what others use");
  else if (v == Verb::Change && !here) sh.w->find(family, Level::Doubt, family == Family::Database ? "changes data or its store" : family == Family::Outward ? "sends or changes things for others" : "changes what others use");
}
