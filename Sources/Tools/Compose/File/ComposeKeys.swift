/// The keys of the compose specification in one kind of mapping: the supported keys, and advice for keys that are
/// not supported.
struct ComposeKeys {
    let known: Set<String>
    /// Keys that make no sense for plain processes, each with the advice what to do instead.
    var containersOnly: [String: String] = [:]
    /// Keys that would make sense but are not supported, each with the advice what to do instead.
    var unsupported: [String: String] = [:]

    static let root = ComposeKeys(
        known: ["name", "services", "include", "x-bus", "x-keys", "x-ports", "x-clients"],
        containersOnly: [
            "networks": "remove it; services are plain processes on this host",
            "volumes": "use a folder of this host, or $SEGUE_STATE_DIR",
            "configs": "use a file of this host",
            "secrets": "use a file that only its owner may read",
        ],
        unsupported: [
            "version": "remove it; the compose specification no longer uses it",
            "models": "start the model's server as a service",
        ]
    )

    static let include = ComposeKeys(known: ["path", "project_directory", "env_file"])
    static let extends = ComposeKeys(known: ["service", "file"])
    static let envFile = ComposeKeys(known: ["path", "required", "format"])
    static let dependency = ComposeKeys(known: ["condition", "required", "restart"])

    static let healthcheck = ComposeKeys(
        known: ["test", "interval", "timeout", "retries", "start_period", "start_interval", "disable"])

    static let restartPolicy = ComposeKeys(known: ["condition", "delay", "max_attempts", "window", "x-max-delay"])

    static let deploy = ComposeKeys(
        known: ["replicas", "restart_policy"],
        containersOnly: table([
            (
                ["mode", "endpoint_mode", "placement"],
                "remove it; 'replicas' sets the number of instances, which all run on this host"
            ),
            (["rollback_config", "update_config"], "remove it; 'segue restart' restarts a service"),
        ]),
        unsupported: table([
            (["labels"], "use the service's 'labels'"),
            (["resources"], ComposeKeys.limits),
        ])
    )

    private static let limits = "set limits in the units that 'segue export systemd' writes"

    private static func table(_ recoveries: [(keys: [String], recovery: String)]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: recoveries.flatMap { entry in entry.keys.map { ($0, entry.recovery) } })
    }

    static let develop = ComposeKeys(known: ["watch"])

    static let watch = ComposeKeys(
        known: ["path", "action"],
        containersOnly: table([(["target", "initial_sync"], "services read the files of this host")]),
        unsupported: table([
            (["ignore", "include"], "list the paths that count"),
            (["exec"], "run the command yourself, then 'segue up -d'"),
        ]))

    static let service = ComposeKeys(
        known: [
            "command", "entrypoint", "working_dir", "environment", "env_file", "depends_on", "healthcheck", "restart",
            "deploy", "scale", "stop_signal", "stop_grace_period", "profiles", "labels", "extends", "develop",
            "x-unset",
            "x-watchdog",
        ],
        containersOnly: table([
            (
                [
                    "image", "build", "platform", "pull_policy", "pull_refresh_after", "container_name", "runtime",
                    "isolation", "provider", "models",
                ], "name an executable in 'command'"
            ),
            (
                ["ports", "expose", "networks", "network_mode", "links", "external_links", "mac_address"],
                "services share this host; list names in 'x-ports' to get free ports as SEGUE_PORT_<NAME>"
            ),
            (
                ["hostname", "domainname", "extra_hosts", "dns", "dns_opt", "dns_search", "uts"],
                "remove it; services use the name and the name resolution of this host"
            ),
            (
                ["volumes", "volumes_from", "tmpfs", "read_only", "storage_opt", "shm_size"],
                "use paths on this host, or $SEGUE_STATE_DIR"
            ),
            (["configs", "secrets", "credential_spec"], "use files that only their owner may read"),
            (
                [
                    "privileged", "cap_add", "cap_drop", "security_opt", "userns_mode", "ipc", "pid", "cgroup",
                    "cgroup_parent", "devices", "device_cgroup_rules", "gpus", "sysctls", "use_api_socket",
                ],
                "services run as your user, without isolation; 'segue export systemd' writes units with some isolation"
            ),
            (
                ["init", "tty", "stdin_open"],
                "remove it; a service has no terminal, and the processes that it starts are ended with it"
            ),
        ]),
        unsupported: table([
            (["user", "group_add"], "remove it; services run as your user"),
            (
                [
                    "blkio_config", "cpu_count", "cpu_percent", "cpu_shares", "cpu_period", "cpu_quota",
                    "cpu_rt_runtime", "cpu_rt_period", "cpus", "cpuset", "mem_limit", "mem_reservation",
                    "mem_swappiness", "memswap_limit", "oom_kill_disable", "oom_score_adj", "pids_limit", "ulimits",
                ], limits
            ),
            (["annotations", "label_file"], "use 'labels'"),
            (["attach"], "select the services to show with 'segue logs -f SERVICE'"),
            (["logging"], "remove it; 'segue logs' shows the output of each service, which is kept in log files"),
            (
                ["pre_start", "post_start", "pre_stop"],
                "make it a separate service; others can depend on it with service_completed_successfully"
            ),
        ])
    )
}
