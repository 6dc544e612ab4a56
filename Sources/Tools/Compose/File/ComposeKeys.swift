/// The keys of the compose specification at one place of a file: those that are read, and why the others are not.
struct ComposeKeys {
    let known: Set<String>
    /// Senseless for plain processes, each with what to do instead.
    var containersOnly: [String: String] = [:]
    /// They would make sense; each with what to do instead.
    var unsupported: [String: String] = [:]

    static let root = ComposeKeys(
        known: ["name", "services"],
        containersOnly: [
            "networks": "services are plain processes on this host",
            "volumes": "use a plain folder, or $SEGUE_STATE_DIR",
            "configs": "use a plain file",
            "secrets": "use a file that only its owner may read",
        ],
        unsupported: [
            "version": "leave it out, the specification has no versions any more",
            "include": "put the services into one file",
        ]
    )

    static let service = ComposeKeys(
        known: [
            "command", "entrypoint", "working_dir", "environment", "depends_on", "restart", "healthcheck",
            "stop_signal", "stop_grace_period", "labels",
        ],
        containersOnly: table([
            (["image", "build", "platform", "pull_policy", "container_name"], "name an executable in 'command'"),
            (
                ["ports", "expose", "networks", "network_mode", "links", "hostname", "extra_hosts", "dns"],
                "services share this host; list names in 'x-ports' to get free ports as SEGUE_PORT_<NAME>"
            ),
            (["volumes", "tmpfs", "volumes_from", "read_only"], "use plain paths, or $SEGUE_STATE_DIR"),
            (["configs", "secrets"], "use files that only their owner may read"),
            (
                ["privileged", "cap_add", "cap_drop", "security_opt", "userns_mode", "ipc", "pid", "devices"],
                "services run as you do, without isolation"
            ),
            (["init", "tty", "stdin_open"], "a service has no terminal"),
        ]),
        unsupported: table([
            (["user", "group_add"], "services run as you do"),
            (["deploy", "scale", "mem_limit", "cpus", "shm_size"], "one process each, with no limits"),
            (["env_file"], "list the variables in 'environment'"),
            (["profiles", "extends"], "use a file of its own, with YAML anchors for what they share"),
            (["logging"], "each service's output goes to a log file of the project"),
        ])
    )

    static let healthcheck = ComposeKeys(
        known: ["test", "start_period", "disable"],
        unsupported: table([
            (["interval", "timeout", "retries", "start_interval"], "a service announces itself, nobody asks it")
        ])
    )

    static let dependency = ComposeKeys(
        known: ["condition"],
        unsupported: table([(["required", "restart"], "every dependency is required")])
    )

    private static func table(_ hints: [(keys: [String], hint: String)]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: hints.flatMap { entry in entry.keys.map { ($0, entry.hint) } })
    }
}
