import Testing

@testable import Compose

/// The keys in the JSON schema and the text of the compose specification of 2026: each is read, or refused with a
/// recovery.
@Suite("Keys of the compose specification")
struct ComposeKeysTests {
    static let rootKeys = [
        "version", "name", "include", "services", "models", "networks", "volumes", "secrets", "configs",
    ]

    static let serviceKeys = """
        develop deploy annotations attach build blkio_config cap_add cap_drop cgroup cgroup_parent command configs \
        container_name cpu_count cpu_percent cpu_shares cpu_quota cpu_period cpu_rt_period cpu_rt_runtime cpus cpuset \
        credential_spec depends_on device_cgroup_rules devices dns dns_opt dns_search domainname entrypoint env_file \
        label_file environment expose extends provider external_links extra_hosts gpus group_add healthcheck hostname \
        image init ipc isolation labels links logging mac_address mem_limit mem_reservation mem_swappiness \
        memswap_limit network_mode models networks oom_kill_disable oom_score_adj pid pids_limit platform ports \
        post_start pre_start pre_stop privileged profiles pull_policy pull_refresh_after read_only restart runtime \
        scale security_opt shm_size secrets sysctls stdin_open stop_grace_period stop_signal storage_opt tmpfs tty \
        ulimits use_api_socket user uts userns_mode volumes volumes_from working_dir
        """.split(separator: " ").map(String.init)

    static let deployKeys = [
        "mode", "endpoint_mode", "replicas", "labels", "rollback_config", "update_config", "resources",
        "restart_policy", "placement",
    ]

    static let healthcheckKeys = [
        "disable", "interval", "retries", "test", "timeout", "start_period", "start_interval",
    ]

    static let read: Set = [
        "command", "entrypoint", "working_dir", "environment", "env_file", "depends_on", "healthcheck", "restart",
        "deploy", "scale", "stop_signal", "stop_grace_period", "profiles", "labels", "extends", "develop",
    ]

    @Test("Each key of a file in the specification is known", arguments: rootKeys)
    func root(key: String) { expect(key, in: .root) }

    @Test("Each key of a service in the specification is known, or refused with a remedy", arguments: serviceKeys)
    func service(key: String) throws {
        expect(key, in: .service)
        guard !Self.read.contains(key) else { return }
        let found = mistakes(inService: "\(key): {}")
        #expect(found.count == 1)
        let first = try #require(found.first)
        #expect(first.hasPrefix("c.yaml:4: '\(key)' in service 'a' ") && first.contains("; "), "\(first)")
    }

    @Test("Each key of 'deploy' in the specification is known", arguments: deployKeys)
    func deploy(key: String) { expect(key, in: .deploy) }

    @Test("Each key of 'healthcheck' in the specification is known", arguments: healthcheckKeys)
    func healthcheck(key: String) { #expect(ComposeKeys.healthcheck.known.contains(key)) }

    @Test("An unknown key is reported with the closest key or all known ones")
    func unknown() {
        #expect(
            mistakes(inService: "helthcheck: {}")
                == ["c.yaml:4: unknown key 'helthcheck' in service 'a'; did you mean 'healthcheck'?"])
        #expect(
            mistakes(inService: "depends_on: {b: {colour: red}}").contains(
                "c.yaml:4: unknown key 'colour' in 'b' in 'depends_on' of service 'a'; "
                    + "the known keys are condition, required, restart"))
        #expect(mistakes(inService: "x-mine: {anything: [at, all]}").isEmpty)
    }

    private func expect(_ key: String, in keys: ComposeKeys) {
        let places = [keys.known.contains(key), keys.containersOnly[key] != nil, keys.unsupported[key] != nil]
        #expect(places.count(where: \.self) == 1, "'\(key)'")
    }
}
