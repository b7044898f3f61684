// What tools that speak in subcommands do: a table of command lines.
#include "interp.hpp"

namespace {

// A line of the table: words that must occur among argv in this order (alternatives with |, globs allowed); a word after !
// must not occur at all; a word after ^ must be the next operand (options do not count). The first word is the command.
struct Line {
  Family family;
  Level level;
  const char *pattern, *what;
};
constexpr Level Sure = Level::Sure, Doubt = Level::Doubt;
const Line kLines[] = {
    // disks
    {Family::Disk, Sure, "mkfs|mkfs.*|mke2fs|mkswap|mkntfs|newfs|wipefs|blkdiscard|hdparm|sgdisk|sfdisk|parted|fdisk|gdisk|cfdisk|badblocks|zpool|lvremove|vgremove|pvremove|"
                         "mdadm|partprobe|nvme|fsck|fsck.*|e2fsck|resize2fs|tune2fs|fstrim|losetup !-l !--list !-V !--version !--help !list !status !smart-log", "works on a disk or file system"},
    {Family::Disk, Sure, "cryptsetup luksFormat|erase|luksErase|reencrypt|luksKillSlot|luksRemoveKey", "destroys an encrypted volume"},
    {Family::Disk, Sure, "zfs|btrfs destroy|rollback|delete|remove|replace !-n !-nv", "destroys a volume or its snapshots"},
    {Family::Disk, Sure, "diskutil erase*|partitionDisk|reformat|zeroDisk|secureErase|apfs", "erases a disk"},
    {Family::Disk, Sure, "fastboot|heimdall|esptool|esptool.py|avrdude|dfu-util erase|flash|flash:*|flashall|format|format:*|-w|--flash|erase_flash|write_flash|oem|-D|-U", "overwrites the memory of a device"},
    // system
    {Family::System, Sure, "shutdown|reboot|halt|poweroff|telinit|init|kexec", "shuts the machine down"},
    {Family::System, Sure, "systemctl ^poweroff|reboot|halt|kexec|suspend|hibernate|rescue|emergency|isolate|mask", "changes the state of the machine"},
    {Family::System, Sure, "systemctl ^stop|disable|restart|kill !--user", "stops a service"},
    {Family::System, Sure, "service|rc-service * stop|restart", "stops a service"},
    {Family::System, Sure, "loginctl ^terminate-*|kill-*|poweroff|reboot|lock-*", "ends sessions"},
    {Family::System, Sure, "rmmod|insmod|modprobe !-n !--show-depends !-V", "changes the kernel"},
    {Family::System, Sure, "sysctl -w|-p|--write|--system", "changes kernel settings"},
    {Family::System, Sure, "sysctl *=*", "changes kernel settings"},
    {Family::System, Sure, "iptables|ip6tables|nft|ufw|firewall-cmd -F|-P|-X|-D|-A|-I|--flush|--policy|flush|delete|disable|reset|--remove-*|--panic-on", "changes the firewall"},
    {Family::System, Sure, "ip|ifconfig|nmcli|route down|del|delete|flush|off|disconnect", "cuts the network"},
    {Family::System, Sure, "umount -a|-l|-f|--all", "unmounts file systems"},
    {Family::System, Sure, "umount /|/home|/boot|/var|/usr", "unmounts file systems"},
    {Family::System, Sure, "swapoff|pivot_root|grub-install|update-grub|dracut|mkinitcpio|update-initramfs|efibootmgr|depmod", "changes how the machine starts"},
    {Family::System, Sure, "apt|apt-get|aptitude|dpkg|yum|dnf|zypper|pacman|apk|rpm|snap|flatpak|brew|port remove|purge|autoremove|erase|-r|-P|-R|-Rns|-Rs|-e|uninstall|del|dist-upgrade|full-upgrade !--dry-run !-s !--simulate",
     "removes packages of the system"},
    {Family::Privilege, Sure, "apt|apt-get|aptitude|yum|dnf|zypper|pacman|apk|snap|rpm|dpkg ^install|upgrade|update|dist-upgrade|add|-S|-Sy|-Syu|-i|-U !--dry-run !--simulate", "installs packages of the system"},
    {Family::Privilege, Sure, "machinectl ^shell|login", "enters a machine"},
    {Family::System, Sure, "deluser|userdel|groupdel|useradd|adduser|groupadd|passwd|chpasswd|chsh|chfn|vipw", "changes users"},
    {Family::Permissions, Doubt, "chattr +i|-i|+a|-a|+ia|-ia", "changes rights"},
    {Family::Permissions, Sure, "usermod|gpasswd|visudo|setcap|setfacl|newgrp|setenforce|aa-disable", "changes rights"},
    {Family::System, Sure, "timedatectl|hostnamectl|localectl set-*", "changes machine settings"},
    {Family::System, Sure, "pip|pip3|python -m|install --break-system-packages", "changes the system's own packages"},
    {Family::RemoteCode, Doubt, "npm|pnpm|yarn|bun|pip|pip3|poetry|gem|cargo ^config|source|sources set|add|-a|--add|repositories.* registry|global.index-url|*:registry|registry=*|npmRegistryServer|http*", "changes where packages come from"},
    {Family::RemoteCode, Doubt, "npm|pnpm|yarn ^set|set-config *registry*|http*", "changes where packages come from"},
    {Family::System, Sure, "update-alternatives|alternatives|dpkg-divert|eselect --set|--set-all|--install|--remove*|--config|--auto|--all|--add|set", "changes which programs the machine runs"},
    {Family::System, Sure, "date -s|--set|--set=*", "sets the clock"},
    {Family::System, Sure, "history -c|-w", "erases the shell's history"},
    {Family::System, Sure, "journalctl --vacuum*|--rotate", "erases logs"},
    {Family::System, Sure, "defaults write|delete", "changes machine settings"},
    {Family::System, Sure, "launchctl ^unload|bootout|remove|disable", "stops a service"},
    {Family::System, Sure, "tmutil|nvram|csrutil|spctl disable|delete|-c|--master-disable", "weakens the machine"},
    // persistence
    {Family::Persistence, Sure, "at|batch !-l", "plans a command for later"},
    {Family::Persistence, Sure, "systemctl ^enable|start|link|edit", "starts a service"},
    {Family::Persistence, Sure, "launchctl ^load|bootstrap|submit|enable", "starts a service"},
    {Family::Persistence, Sure, "update-rc.d|chkconfig|rc-update", "changes what starts with the machine"},
    // containers
    {Family::Containers, Sure, "docker|podman|nerdctl ^volume rm|prune|remove", "deletes volumes"},
    {Family::Containers, Sure, "docker|podman|nerdctl ^system|container|image|network|builder|buildx prune", "deletes what containers left"},
    {Family::Containers, Sure, "docker|podman|nerdctl ^compose|*-compose down -v|--volumes|--rmi*", "deletes volumes"},
    {Family::Containers, Sure, "docker-compose|podman-compose down -v|--volumes|--rmi*", "deletes volumes"},
    {Family::Containers, Sure, "docker|podman|nerdctl ^rm|rmi|kill|container -f|--force|-fv|-vf|-rf|-af|-fa|-fl|-lf|-afv|-fva", "kills containers"},
    {Family::Containers, Sure, "docker|podman|nerdctl ^compose rm|kill -f|--force|-v|--volumes|-fv|-vf|-fs|-sf|-fsv|-fvs|-svf|-sfv", "kills containers"},
    {Family::Containers, Sure, "docker|podman|nerdctl ^rm|rmi|kill|stop *\x0f*|*\x01*", "removes containers by the dozen"},
    {Family::Containers, Sure, "docker|podman|nerdctl ^container|image rm|rmi|kill|stop *\x0f*|*\x01*", "removes containers by the dozen"},
    {Family::Containers, Sure, "lxc|incus config|profile|storage device|set|delete source=*|raw.*|security.*", "opens a container to the machine"},
    {Family::Containers, Sure, "docker|podman|nerdctl ^rm -v|--volumes", "deletes volumes"},
    {Family::Containers, Sure, "docker|podman|nerdctl ^swarm|stack|node|service|secret|config leave|rm", "takes a service down"},
    {Family::Containers, Sure, "docker|podman|nerdctl ^context|plugin rm|disable", "changes the container engine"},
    {Family::Containers, Sure, "podman system|machine reset|rm", "deletes all containers"},
    {Family::Containers, Sure, "lxc|incus|virsh|multipass|vagrant|limactl|colima|minikube|kind|k3d delete|destroy|undefine|purge|cluster", "deletes machines"},
    {Family::Containers, Sure, "docker|podman|nerdctl ^run|create|exec --privileged|--pid=host|--net=host|--network=host|--userns=host|--cap-add*|--device*", "opens a container to the machine"},
    // cloud
    {Family::Cloud, Sure, "kubectl|oc|k ^delete|drain|cordon|taint|replace !--dry-run* !--help", "deletes what runs in a cluster"},
    {Family::Cloud, Sure, "kubectl|oc|k ^scale --replicas=0|--replicas 0", "stops what runs in a cluster"},
    {Family::Cloud, Doubt, "kubectl|oc|k ^apply|create|run|expose|autoscale|patch|edit|rollout|scale|annotate|label|set|uncordon|approve !--dry-run* !status !history", "changes what runs in a cluster"},
    {Family::Cloud, Sure, "helm ^uninstall|delete|rollback !--dry-run", "removes a release"},
    {Family::Cloud, Doubt, "helm ^install|upgrade !--dry-run*", "changes a release"},
    {Family::Cloud, Sure, "terraform|tofu|terragrunt|cdk|cdktf|pulumi ^destroy|taint", "destroys infrastructure"},
    {Family::Cloud, Sure, "terraform|tofu|terragrunt ^apply -destroy|-auto-approve|--auto-approve|-replace*", "changes infrastructure unasked"},
    {Family::Cloud, Sure, "terraform|tofu|terragrunt ^state|workspace rm|delete|push|mv", "changes the state of infrastructure"},
    {Family::Cloud, Sure, "terragrunt ^run-all|run|stack destroy|apply", "changes infrastructure"},
    {Family::Cloud, Doubt, "packer ^build", "makes images at a provider"},
    {Family::Cloud, Sure, "argocd|flux|istioctl|linkerd|velero|rancher|tanzu|crictl|ctr|kubeadm|talosctl|cilium|tkn|kn|skaffold|skopeo|crane|regctl|oras|longhornctl|virtctl "
                          "delete|uninstall|destroy|rm|rmi|reset|purge|prune|remove|rollback|terminate|restore|wipe !--dry-run !--help !get !describe !logs", "deletes what runs in a cluster"},
    {Family::Cloud, Doubt, "argocd|flux|velero|kubectl-argo-rollouts sync|set|suspend|resume|patch|promote|abort|create !--dry-run !--help", "changes what runs in a cluster"},
    {Family::Cloud, Doubt, "kubectl|oc|k ^config delete-*|unset", "changes which clusters are known"},
    {Family::Cloud, Doubt, "ansible -m|--module-name|-a|--args !ping|setup|debug|stat|gather_facts|--check|-C|--list-hosts|--help", "changes other machines"},
    {Family::Cloud, Doubt, "salt|salt-ssh|salt-run cmd.*|state.*|service.*|pkg.*|file.*|user.*|system.* !test=True", "changes other machines"},
    {Family::Cloud, Doubt, "pdsh|pssh|parallel-ssh|clush|mussh|dsh|bolt|mco * !--help !--noop", "runs something on many machines"},
    {Family::Cloud, Doubt, "heroku|dokku|scalingo config:set|config:unset|ps:scale|ps:stop|maintenance:on|pg:promote|pg:copy|addons:*|rollback|releases:rollback|domains:*|access:*", "changes what is deployed"},
    {Family::Cloud, Doubt, "fly|flyctl|vercel|netlify|wrangler|railway|supabase|doppler ^secrets|secret|env|variables|scale set|unset|add|put|rm|remove|delete|import|count", "changes what is deployed"},
    {Family::Cloud, Sure, "terraform|tofu|terragrunt ^force-unlock", "changes the state of infrastructure"},
    {Family::Cloud, Doubt, "terraform|tofu|terragrunt|pulumi|cdk|cdktf ^apply|up|deploy|import", "changes infrastructure"},
    {Family::Cloud, Sure, "pulumi ^up|stack|state -y|--yes|rm|delete", "changes infrastructure unasked"},
    {Family::Cloud, Sure, "aws * delete-*|terminate-*|remove-*|deregister-*|purge-*|stop-*|put-bucket-*|schedule-key-deletion|detach-*|disable-*|release-*|revoke-*|reset-*|cancel-* !--dry-run !help", "destroys resources in the cloud"},
    {Family::Cloud, Sure, "aws s3 rb|rm|mv", "deletes objects in the cloud"},
    {Family::Cloud, Sure, "aws s3 sync --delete", "deletes objects in the cloud"},
    {Family::Cloud, Sure, "aws cloudformation|iam|ec2|rds|lambda create-*|update-*|attach-*|run-*|modify-*|put-*|authorize-*", "changes resources in the cloud"},
    {Family::Cloud, Doubt, "gcloud|az add-iam-policy-binding|set-iam-policy|create|update|add|assign|restart|enable|disable|resize|patch|import|promote|failover|rollback|attach|detach|invoke|swap|redeploy "
                           "!config !account !configure !auth !--help", "changes resources in the cloud"},
    {Family::Cloud, Sure, "bq ^rm|cancel|truncate", "deletes data in the cloud"},
    {Family::Cloud, Sure, "gcloud|az|doctl|linode-cli|scw|hcloud|oci|ibmcloud|openstack|civo|vultr|exo|bx delete|remove|destroy|purge|stop|rm|terminate|delete-*|remove-*|reset", "destroys resources in the cloud"},
    {Family::Cloud, Sure, "gsutil|gcloud rm|rb|-d|mv", "deletes objects in the cloud"},
    {Family::Cloud, Sure, "gsutil|gcloud rsync -d|--delete-unmatched-destination-objects", "deletes objects in the cloud"},
    {Family::Cloud, Sure, "azcopy|rclone|s3cmd|mc|s5cmd|b2 remove|rm|rb|purge|delete|sync|del|cleanup|--remove|--delete-destination* !--dry-run", "deletes objects in the cloud"},
    {Family::Cloud, Sure, "heroku|fly|flyctl|vercel|netlify|wrangler|railway|render|firebase|supabase|amplify|sst|serverless|sls|eb|ecs-cli|eksctl|kops|nomad|consul|dokku|surge|now|cf|ansible-vault "
                          "apps:destroy|*:destroy|*:delete|*:remove|*:reset|destroy|delete|remove|rm|teardown|terminate|purge|stop|down|-purge|sites:delete|projects|leave !--help !list !ls", "destroys what is deployed"},
    {Family::Cloud, Sure, "gh ^repo|release|secret|variable|ssh-key|gpg-key|run|cache|codespace delete|archive|rename|remove", "deletes things on the forge"},
    {Family::Cloud, Sure, "gh ^api DELETE|-XDELETE|--method=DELETE", "deletes things on the forge"},
    {Family::Cloud, Sure, "glab|hub|tea ^repo|release|variable|delete delete|rm", "deletes things on the forge"},
    // databases
    {Family::Database, Sure, "dropdb|dropuser|mysqladmin|pg_dropcluster drop|* !--help !--version !status !ping !processlist !version !extended-status", "drops a database"},
    {Family::Database, Sure, "redis-cli|valkey-cli|keydb-cli flushall|flushdb|FLUSHALL|FLUSHDB|shutdown|SHUTDOWN|config|CONFIG|del|DEL|unlink|UNLINK|debug|slaveof|replicaof|eval|EVAL !get !GET", "empties a store"},
    {Family::Database, Sure, "rabbitmqctl|rabbitmqadmin ^reset|force_reset|delete_*|purge_queue|stop_app|stop|delete|purge", "empties a broker"},
    {Family::Database, Sure, "kafka-topics|kafka-topics.sh|kafka-delete-records|kafka-delete-records.sh|kafka-consumer-groups|kafka-consumer-groups.sh|rpk --delete|delete|--offset-json-file|--reset-offsets", "deletes topics"},
    {Family::Database, Sure, "prisma migrate reset", "resets a database"},
    {Family::Database, Sure, "prisma db push --force-reset|--accept-data-loss", "resets a database"},
    {Family::Database, Sure, "prisma db execute", "runs SQL"},
    {Family::Database, Sure, "drizzle-kit drop", "drops migrations"},
    {Family::Database, Sure, "drizzle-kit push --force", "changes a database by force"},
    {Family::Database, Sure, "sequelize|sequelize-cli|knex|typeorm|mikro-orm|db-migrate db:drop|db:migrate:undo:all|migrate:rollback|schema:drop|schema:fresh|migration:revert|reset|drop|down", "drops a database"},
    {Family::Database, Sure, "rails|rake|bin/rails|bin/rake db:drop|db:reset|db:purge|db:drop:*|db:schema:load|db:migrate:reset|db:truncate_all|db:setup", "resets a database"},
    {Family::Database, Sure, "artisan|manage.py|console|mix|flask|alembic migrate:fresh|migrate:reset|migrate:refresh|migrate:rollback|db:wipe|flush|reset_db|sqlflush|ecto.drop|ecto.reset|ecto.rollback|doctrine:*:drop|downgrade", "resets a database"},
    {Family::Database, Sure, "php|python|python3 *artisan|*manage.py|*console migrate:fresh|migrate:reset|migrate:refresh|migrate:rollback|db:wipe|flush|reset_db|sqlflush|doctrine:*:drop|doctrine:schema:drop", "resets a database"},
    {Family::Database, Sure, "php|python|python3|manage.py *manage.py|migrate migrate|* zero", "resets a database"},
    {Family::Database, Doubt, "psql|mysql|mariadb|sqlite3|sqlcmd|sqlplus|usql|cqlsh|clickhouse-client|snowsql|beeline|duckdb *drop*.sql|*wipe*.sql|*purge*.sql|*truncate*.sql|*destroy*.sql|*nuke*.sql|*delete_all*.sql|*delete-all*.sql|down.sql|*/down.sql|*.down.sql|*_down.sql|*rollback*.sql|*reset*.sql", "runs SQL that may delete"},
    {Family::Database, Sure, "flyway|liquibase|goose|migrate|dbmate|sqitch|atlas|sql-migrate|tern|refinery|diesel|sqlx|sea-orm-cli|phinx|yoyo|mongock|migrate-mongo "
                             "clean|drop|drop-all|dropAll|rollback|rollback*|down|down-to|reset|revert|redo|undo|fresh|refresh|force !--help", "takes a schema back or drops it"},
    {Family::Database, Sure, "pg_restore -c|--clean|-C", "overwrites a database"},
    {Family::Database, Sure, "mongorestore --drop", "overwrites a database"},
    {Family::Database, Sure, "etcdctl del|snapshot|member --prefix|restore|remove", "deletes keys"},
    {Family::Database, Sure, "influx|cqlsh|couchbase-cli|curator delete|drop|bucket-delete|bucket-flush", "deletes data"},
    {Family::Database, Doubt, "supabase db reset|push", "resets a database"},
    {Family::Database, Doubt, "kafka-console-producer|kafka-console-producer.sh|mongoimport|sstableloader *", "writes to a store"},
    {Family::Database, Doubt, "kcat|kafkacat -P", "writes to a broker"},
    {Family::Cloud, Doubt, "scancel|qdel|bkill|condor_rm|ldapdelete|ldapmodify|ldapadd|ldappasswd|postsuper|nsupdate *", "changes what others use"},
    // what an agent may do
    {Family::Guard, Sure, "claude --dangerously-skip-permissions|--allow-dangerously-skip-permissions|bypassPermissions|--permission-mode=bypassPermissions", "starts an agent that nothing holds"},
    {Family::Guard, Sure, "codex --dangerously-bypass-approvals-and-sandbox|--yolo|danger-full-access|--sandbox=danger-full-access", "starts an agent that nothing holds"},
    {Family::Guard, Sure, "gemini|qwen|crush|copilot|cursor-agent|opencode|amp --yolo|-y|--approval-mode=yolo|--allow-all-tools|--force|--dangerously-allow-all", "starts an agent that nothing holds"},
    // publishing
    {Family::Outward, Sure, "npm|pnpm|yarn|bun ^publish|unpublish|deprecate|owner|access|dist-tag !--dry-run !ls", "publishes a package"},
    {Family::Outward, Sure, "cargo ^publish|yank|owner !--dry-run !-n", "publishes a package"},
    {Family::Outward, Sure, "twine|flit|poetry|uv|hatch|gem|pod|dart|mix|docker|podman|helm|vsce|ovsx|goreleaser|jfrog|conan ^upload|publish|push|yank|trunk|hex.publish|release !--dry-run !--snapshot", "publishes"},
    {Family::Outward, Sure, "mvn|gradle|gradlew|./gradlew|sbt deploy|publish|release:*|publishToMavenCentral|publishSigned", "publishes"},
    {Family::Outward, Sure, "yarn npm publish|tag|logout", "publishes a package"},
    {Family::Outward, Sure, "python|python2|python3|python3.* *setup.py upload|register|upload_docs", "publishes a package"},
    {Family::Outward, Sure, "docker|podman|nerdctl|buildah ^build|buildx|manifest|compose|image|bake push|--push|--output=type=registry|type=registry !--dry-run", "publishes an image"},
    {Family::Outward, Sure, "buildah|crane|regctl|oras|ko|werf ^push|copy|cp|tag|mutate|append|publish|apply|resolve|image|converge !ls !--help", "publishes an image"},
    {Family::Outward, Sure, "skopeo copy|sync * docker://*", "publishes an image"},
    {Family::Outward, Sure, "bazel|bazelisk ^run *push*|*deploy*|*publish*|*release*", "publishes"},
    {Family::Outward, Sure, "fastlane deliver|release|pilot|supply|beta|upload_*|deploy|*:release|*:beta", "publishes an app"},
    {Family::Outward, Sure, "eas|expo|appcenter|shorebird ^submit|update|publish|distribute|release|channel", "publishes an app"},
    {Family::Outward, Sure, "altool|notarytool|xcrun --upload-app|--upload-package|submit", "publishes an app"},
    {Family::Outward, Sure, "dotnet|nuget push|delete", "publishes a package"},
    {Family::Outward, Sure, "lein|pdm|maturin|lerna|changeset|wasm-pack|jsr|deno|rush|nx|luarocks|opam|cabal|stack ^deploy|publish|upload|release !--dry-run !--dryRun", "publishes a package"},
    {Family::Outward, Sure, "semantic-release|release-it|np * !--dry-run !-n !--help", "publishes a package"},
    {Family::Outward, Sure, "gh ^pr merge|close|review", "changes a pull request"},
    {Family::Outward, Doubt, "gh ^api POST|PUT|PATCH|-XPOST|-XPUT|-XPATCH|--method=POST|--method=PUT|--method=PATCH|--input !graphql", "changes things on the forge"},
    {Family::Outward, Sure, "gh ^pr|issue|release|gist|workflow|run|repo|project|label create|close|comment|edit|run|delete|disable|enable|sync|upload|rerun|cancel|reopen|transfer|fork|lock|pin", "acts on the forge"},
    {Family::Outward, Sure, "gh ^secret|variable|ssh-key|gpg-key|deploy-key|ruleset set|add|create|import", "changes what the forge trusts"},
    {Family::Outward, Sure, "gh ^auth login|logout|refresh|setup-git", "changes the login"},
    {Family::Outward, Sure, "ngrok|lt|localtunnel|cloudflared|bore|zrok|tailscale|serveo|localhost.run|frpc|expose http|tcp|tls|--port|-p|tunnel|local|funnel|serve|share|start|-c !list !--help !login", "opens the machine to the network"},
    {Family::Outward, Doubt, "dvc|dolt ^push", "publishes data"},
    {Family::Outward, Doubt, "ssh|mosh|autossh|sshuttle *", "works on another machine"},
    {Family::Outward, Sure, "mail|mailx|sendmail|mutt|msmtp|swaks *", "sends mail"},
    {Family::Outward, Sure, "vercel|netlify|firebase|wrangler|fly|flyctl|heroku|railway|surge|now|serverless|sls|sam|amplify|eb|gcloud|kamal|cap|dokku|ansible-playbook deploy|publish|--prod|--production|*.yml|*.yaml !--dry-run !--check !--help !--syntax-check !--list-tasks !--list-hosts", "deploys"},
    // what reads secrets by its own means
    {Family::Secrets, Sure, "aws ssm get-parameter*|put-parameter --with-decryption", "reads secrets"},
    {Family::Secrets, Sure, "aws secretsmanager|sts|ecr get-secret-value|get-session-token|assume-role|get-login-password", "reads secrets"},
    {Family::Secrets, Sure, "aws configure export-credentials|get", "reads secrets"},
    {Family::Secrets, Sure, "op ^read|item|inject|document|get|run !list !--help", "reads secrets"},
    {Family::Secrets, Sure, "vault ^read|kv|token|login|unwrap|print|operator|secrets !list !status", "reads secrets"},
    {Family::Secrets, Sure, "gh ^auth token", "reads a token"},
    {Family::Secrets, Sure, "gh ^auth status -t|--show-token", "reads a token"},
    {Family::Secrets, Sure, "gcloud auth print-*|application-default", "reads a token"},
    {Family::Secrets, Sure, "gcloud secrets versions access", "reads secrets"},
    {Family::Secrets, Sure, "az keyvault|account secret|key|get-access-token|certificate show|download|get-access-token", "reads secrets"},
    {Family::Secrets, Sure, "az account get-access-token", "reads a token"},
    {Family::Secrets, Sure, "kubectl|oc|k ^get|describe secret|secrets|secret/*|secrets/* !-o=name !name !-oname", "reads secrets"},
    {Family::Secrets, Sure, "kubectl|oc|k ^config view --raw", "reads secrets"},
    {Family::Secrets, Sure, "security dump-keychain|find-*-password|export", "reads the keychain"},
    {Family::Secrets, Sure, "secret-tool lookup|search", "reads the keyring"},
    {Family::Secrets, Sure, "pass|gopass|bw|lpass|keepassxc-cli|rbw|dashlane|nordpass ^show|get|export|list|ls|dump|-c|unlock|find", "reads a password store"},
    {Family::Secrets, Sure, "age|rage|sops|gpg|gpg2|ansible-vault|git-crypt|blackbox_cat|openssl|ejson -d|--decrypt|decrypt|exec-env|--export-secret-keys|--export-secret-key|--export-secret-subkeys|view|unlock", "decrypts secrets"},
    {Family::Secrets, Sure, "heroku config|config:get", "reads secrets"},
    {Family::Secrets, Sure, "fly|flyctl|doppler|infisical|chamber|vercel|netlify|railway|eb|supabase secrets|env|env:list|env:get|variables|printenv|export|read|pull|download !ls !list !--help !--only-names", "reads secrets"},
    {Family::Secrets, Sure, "docker|podman inspect *Config.Env*|*.Env*", "reads secrets"},
    {Family::Secrets, Sure, "docker|podman|kubectl exec env|printenv", "reads the environment of a container"},
    {Family::Secrets, Sure, "npm|pnpm|yarn ^token|config get|list|ls _authToken|*authToken*", "reads a token"},
    {Family::Secrets, Sure, "git ^credential|credential-store|credential-cache|credential-osxkeychain fill|get|*", "reads credentials"},
    {Family::Secrets, Sure, "ssh-keygen -y", "reads a private key"},
    {Family::Secrets, Sure, "ssh-add -L", "lists keys"},
    {Family::Secrets, Sure, "keyctl ^print|read|pipe|show", "reads the keyring"},
    {Family::Secrets, Sure, "curl|wget|http|https|xh|nc *169.254.169.254*|*metadata.google.internal*|*100.100.100.200*|*fd00:ec2::254*|*metadata.azure.com*", "asks the cloud for the machine's credentials"},
    {Family::Secrets, Sure, "gnome-keyring-daemon|kwallet-query|mimipenguin|lazagne *", "reads the keyring"},
};

bool alternatives(Str pattern, Str arg) {
  size_t b = 0;
  for (size_t i = 0; i <= pattern.n; i++)
    if (i == pattern.n || pattern.p[i] == '|') {
      if (globMatch(::sub(pattern, b, i), arg)) return true;
      b = i + 1;
    }
  return false;
}
// Which bytes the alternatives of a line's first word start with, as bits of the byte's low five: most lines are ruled out by it.
constexpr uint32_t kLineCount = sizeof kLines / sizeof *kLines;
uint32_t firstBytes[kLineCount];
void indexLines() {
  for (uint32_t i = 0; i < kLineCount && !firstBytes[kLineCount - 1]; i++) {
    bool start = true;
    for (const char *p = kLines[i].pattern; *p && *p != ' '; p++) {
      if (start) firstBytes[i] |= *p == '*' ? 0xffffffffu : 1u << (*p & 31);
      start = *p == '|';
    }
  }
}

bool lineMatches(const Command &c, const char *line) {
  uint32_t at = 0;
  bool first = true;
  while (*line) {
    while (*line == ' ') line++;
    if (!*line) break;
    Str word{line, 0};
    while (*line && *line != ' ') line++;
    word.n = static_cast<size_t>(line - word.p);
    if (first) {
      if (!alternatives(word, c.name)) return false;
      first = false;
      at = 1;
    } else if (word.p[0] == '!') {
      for (uint32_t i = 1; i < c.argv.n; i++)
        if (alternatives(::sub(word, 1, word.n), without(c.argv[i], kUnset))) return false;
    } else if (word.p[0] == '^') {
      while (at < c.argv.n && c.argv[at].n > 1 && c.argv[at].p[0] == '-')
        at += anyOf(c.argv[at], "-H --host --context -c -n --namespace --kubeconfig --profile --region --project --config -f --cluster -C --prefix -w --workspace --filter -R --repo") ? 2 : 1;
      if (at >= c.argv.n || !alternatives(::sub(word, 1, word.n), without(c.argv[at], kUnset))) return false;
      at++;
    } else {
      while (at < c.argv.n && !alternatives(word, without(c.argv[at], kUnset))) at++;
      if (at++ >= c.argv.n) return false;
    }
  }
  return true;
}

} // namespace

// judgeLines finds what the table says of c. testData: databases are there for tests; image: disks are files of the workspace.
void judgeLines(Shell &sh, Command &c, bool testData, bool image) {
  indexLines();
  uint32_t first = c.name.n ? 1u << (c.name.p[0] & 31) : 0;
  for (uint32_t li = 0; li < kLineCount; li++) {
    if (!(firstBytes[li] & first)) continue;
    const Line &l = kLines[li];
    if ((l.family == Family::Database && testData) || (l.family == Family::Disk && image)) continue;
    if (sh.container && l.family != Family::Cloud && l.family != Family::Database && l.family != Family::Secrets) continue;
    if (lineMatches(c, l.pattern)) sh.w->find(l.family, l.level, l.what);
  }
}
