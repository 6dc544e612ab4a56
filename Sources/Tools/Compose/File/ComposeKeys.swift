/// The keys of the compose specification in one kind of mapping: the supported ones, and hints for the others.
struct ComposeKeys {
    let known: Set<String>
    /// Keys that make no sense for plain processes, each with a hint on what to do instead.
    var containersOnly: [String: String] = [:]
    /// Keys that would make sense but are not supported, each with a hint on what to do instead.
    var unsupported: [String: String] = [:]

    static let root = ComposeKeys(
        known: ["name", "services", "include"],
        containersOnly: [
            "networks": "services are plain processes on this host",
            "volumes": "use a plain folder, or $SEGUE_STATE_DIR",
            "configs": "use a plain file",
            "secrets": "use a file that only its owner may read",
        ],
        unsupported: [
            "version": "leave it out, the specification has no versions any more",
            "models": "start the model's server as a service",
        ]
    )

    static let include = ComposeKeys(known: ["path", "project_directory", "env_file"])
    static let extends = ComposeKeys(known: ["service", "file"])
    static let envFile = ComposeKeys(known: ["path", "required", "format"])
    static let dependency = ComposeKeys(known: ["condition", "required", "restart"])

    static let healthcheck = ComposeKeys(
        known: ["test", "interval", "timeout", "retries", "start_period", "start_interval", "disable"])

    static let restartPolicy = ComposeKeys(known: ["condition", "delay", "max_attempts", "window"])

    static let deploy = ComposeKeys(
        known: ["replicas", "restart_policy"],
        containersOnly: table([
            (["mode", "endpoint_mode", "placement"], "all runs on this host, so many times as 'replicas' says"),
            (["rollback_config", "update_config"], "'segue restart' restarts a service"),
        ]),
        unsupported: table([
            (["labels"], "use the service's 'labels'"),
            (["resources"], ComposeKeys.limits),
        ])
    )

    private static let limits = "'segue export systemd' makes units, where you can set limits"

    private static func table(_ hints: [(keys: [String], hint: String)]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: hints.flatMap { entry in entry.keys.map { ($0, entry.hint) } })
    }

    static let service = ComposeKeys(
        known: [
            "command", "entrypoint", "working_dir", "environment", "env_file", "depends_on", "healthcheck", "restart",
            "deploy", "scale", "stop_signal", "stop_grace_period", "profiles", "labels", "extends",
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
                "services share this host and its names"
            ),
            (
                ["volumes", "volumes_from", "tmpfs", "read_only", "storage_opt", "shm_size"],
                "use plain paths, or $SEGUE_STATE_DIR"
            ),
            (["configs", "secrets", "credential_spec"], "use files that only their owner may read"),
            (
                [
                    "privileged", "cap_add", "cap_drop", "security_opt", "userns_mode", "ipc", "pid", "cgroup",
                    "cgroup_parent", "devices", "device_cgroup_rules", "gpus", "sysctls", "use_api_socket",
                ], "services run as you do, without isolation; 'segue export systemd' makes units that have some"
            ),
            (["init", "tty", "stdin_open"], "a service has no terminal, and all that it starts is ended with it"),
        ]),
        unsupported: table([
            (["user", "group_add"], "services run as you do"),
            (
                [
                    "blkio_config", "cpu_count", "cpu_percent", "cpu_shares", "cpu_period", "cpu_quota",
                    "cpu_rt_runtime", "cpu_rt_period", "cpus", "cpuset", "mem_limit", "mem_reservation",
                    "mem_swappiness", "memswap_limit", "oom_kill_disable", "oom_score_adj", "pids_limit", "ulimits",
                ], limits
            ),
            (["annotations", "label_file"], "use 'labels'"),
            (["attach"], "name the services whose lines you want, as in 'segue logs -f SERVICE'"),
            (["logging"], "each service's output goes to a log file of the project"),
            (["develop"], "build as you like, then use 'segue restart'"),
            (
                ["pre_start", "post_start", "pre_stop"],
                "make it a service of its own; others wait for service_completed_successfully"
            ),
        ])
    )
}
