import OrderedCollections
import Support

extension ComposeReader {
    /// The maximum number of instances of a service; a greater number is an error.
    private static let mostReplicas = 1000

    /// Reads one service, and reports its mistakes. Nil if its entry is not a mapping.
    ///
    /// - Parameter stack: the stack, before its services are added.
    func service(_ name: String, _ entry: ComposeNode.Entry, of stack: Stack) -> Service? {
        if !ServiceName.isValid(name) {
            report("'\(name)' is not a service name", at: entry.key, recovery: ServiceName.rule)
        }
        let owner = "service '\(name)'"
        guard let entries = mapping(entry.value, owner) else { return nil }
        findings.check(entries, against: .service, in: owner)
        let command = command(entries, of: owner, key: entry.key)
        recordPlaces(entries, of: name)
        var service = Service(name: name, command: command)
        service.workingDirectory = directory(entries, of: owner) ?? ownFolder(of: entry.value, in: stack)
        let offered = OfferedVariables.names(ports: stack.ports)
        service.profiles = profiles(entries, of: owner)
        service.environment = environment(entries, of: &service, at: owner)
            .filter { $0.value != nil || !offered.contains($0.key) }
        service.dependencies = dependencies(entries, of: owner)
        service.readiness = readiness(entries, of: owner)
        service.watchdog = watchdog(entries, of: owner)
        service.labels = labels(entries, of: owner)
        service.stopSignal = stopSignal(entries, of: owner)
        if let grace = duration("stop_grace_period", in: entries, of: owner) { service.stopGracePeriod = grace }
        deploy(&service, entries, of: owner)
        service.watchedPaths += watched(entries, of: owner).filter { !service.watchedPaths.contains($0) }
        return service
    }

    /// Records the locations of keys that are checked when the service starts. If `entrypoint` is given, it contains
    /// the executable, so its location is recorded as the location of `command`.
    private func recordPlaces(_ entries: ComposeNode.Entries, of name: String) {
        for key in ["working_dir", "command", "entrypoint", "healthcheck"] {
            guard let entry = entries[key], !entry.value.isNull else { continue }
            let known = key == "entrypoint" ? "command" : key
            findings.record(ServiceKey(service: name, name: known), at: entry.value.location)
        }
    }

    private func command(_ entries: ComposeNode.Entries, of owner: String, key: ComposeLocation) -> [String] {
        let given = ["entrypoint", "command"].compactMap { name in
            entries[name].flatMap { $0.value.isNull ? nil : (name, $0.value) }
        }
        let parts = given.flatMap { words($0.1, "'\($0.0)' of \(owner)") }
        if given.isEmpty {
            report("\(owner) has no 'command'", at: key, recovery: "name the executable to run and its arguments")
        } else if let node = given.first?.1, node.namesNothing {
            report(
                "'\(given[0].0)' of \(owner) names no executable", at: node.location,
                recovery: "write the executable first")
        }
        return parts
    }

    func clients(_ nodes: [ComposeNode]) -> [[String]] {
        // A file that is included twice names its clients twice.
        nodes.map { words($0, "a command of 'x-clients'") }.reduce(into: []) { clients, words in
            if !words.isEmpty, !clients.contains(words) { clients.append(words) }
        }
    }

    private func words(_ node: ComposeNode, _ what: String) -> [String] {
        if node.list != nil { return strings(node, what) }
        guard let text = scalar(node, what)?.text else { return [] }
        guard let words = ShellWords.split(text), !words.isEmpty else {
            report("\(what) is empty, ends in a backslash, or has a quote that is not closed", at: node.location)
            return []
        }
        return words
    }

    /// The absolute path of `working_dir`; nil if it is not given or invalid. A relative path starts in the
    /// ``ComposeSource/directory`` of its file. A path that begins with `${SEGUE_STATE_DIR}` stays as it is, because
    /// that folder is known only when the service starts.
    private func directory(_ entries: ComposeNode.Entries, of owner: String) -> String? {
        guard let entry = entries["working_dir"], !entry.value.isNull else {
            return nil
        }
        let what = "'working_dir' of \(owner)"
        if let text = entry.value.scalar?.text, text.begins(with: Service.stateDirectory) {
            return scalar(entry.value, what)?.text
        }
        return path(entry.value, what)?.absolute
    }

    /// The folder in which relative paths of the service's file start. Nil if that is the stack's folder.
    private func ownFolder(of node: ComposeNode, in stack: Stack) -> String? {
        let folder = node.source.directory.absolute
        return folder == stack.directory ? nil : folder
    }

    private func stopSignal(_ entries: ComposeNode.Entries, of owner: String) -> StopSignal {
        value("stop_signal", in: entries, of: owner, recovery: "write a signal's name like SIGINT") { StopSignal($0) }
            ?? .terminate
    }

    private func watchdog(_ entries: ComposeNode.Entries, of owner: String) -> Duration? {
        let watchdog = duration("x-watchdog", in: entries, of: owner)
        guard let node = entries["x-watchdog"]?.value, watchdog == .zero else { return watchdog }
        report("'x-watchdog' of \(owner) is 0", at: node.location, recovery: "write a longer time, or remove the key")
        return nil
    }

    private func profiles(_ entries: ComposeNode.Entries, of owner: String) -> [String] {
        guard let node = entries["profiles"]?.value else { return [] }
        return list(node, "'profiles' of \(owner)").compactMap { node in
            guard let name = scalar(node, "an entry of 'profiles' of \(owner)") else { return nil }
            if ServiceName.isValid(name.text) { return name.text }
            report(
                "'\(name.written)' in 'profiles' of \(owner) is not a valid profile name", at: node.location,
                recovery: ServiceName.rule)
            return nil
        }
    }

    private func labels(_ entries: ComposeNode.Entries, of owner: String) -> [String: String] {
        guard let node = entries["labels"]?.value, !node.isNull else { return [:] }
        let labels = mapping(node, "'labels' of \(owner)") ?? [:]
        let pairs = labels.map { name, entry in
            (
                name,
                entry.value.isNull ? "" : scalar(entry.value, "'\(entry.written)' in 'labels' of \(owner)")?.text ?? ""
            )
        }
        return Dictionary(pairs) { _, last in last }
    }

    /// The paths of `develop.watch`. The action of each must be `restart`.
    private func watched(_ entries: ComposeNode.Entries, of owner: String) -> [String] {
        let what = "'develop' of \(owner)"
        guard let node = entries["develop"]?.value, !node.isNull, let develop = mapping(node, what) else { return [] }
        findings.check(develop, against: .develop, in: what)
        let entry = "an entry of 'watch' of \(owner)"
        return (develop["watch"].map { list($0.value, "'watch' of \(owner)") } ?? []).compactMap { node in
            guard let options = mapping(node, entry) else { return nil }
            findings.check(options, against: .watch, in: entry)
            let recovery = "use restart; build the service yourself, then run 'segue up -d'"
            _ = value("action", in: options, of: entry, recovery: recovery) { $0 == "restart" ? $0 : nil }
            if let path = options["path"]?.value { return self.path(path, "'path' of \(entry)")?.absolute }
            report("\(entry) has no 'path'", at: node.location, recovery: "name a file or a folder")
            return nil
        }
    }

    /// Reads `deploy`, and `scale`, which means the same as `deploy.replicas`.
    private func deploy(_ service: inout Service, _ entries: ComposeNode.Entries, of owner: String) {
        let what = "'deploy' of \(owner)"
        let node = entries["deploy"]?.value
        let deploy = node.flatMap { $0.isNull ? nil : mapping($0, what) } ?? [:]
        findings.check(deploy, against: .deploy, in: what)
        let scale = count("scale", in: entries, of: owner, to: Self.mostReplicas)
        let replicas = count("replicas", in: deploy, of: what, to: Self.mostReplicas)
        if let scale, let replicas, scale != replicas, let node = deploy["replicas"]?.value {
            report("'scale' of \(owner) differs from 'replicas'", at: node.location, recovery: "remove 'scale'")
        }
        service.replicas = replicas ?? scale ?? 1
        restart(&service, entries, policy: deploy["restart_policy"]?.value, of: owner)
    }

    /// The variables of `env_file`, overridden by those of `environment`. A variable without a value is passed on from
    /// the environment of the file. If it is not set there, the service does not have it, unless the supervisor sets
    /// it.
    private func environment(
        _ entries: ComposeNode.Entries, of service: inout Service, at owner: String
    ) -> [String: String?] {
        var variables = entries["env_file"].map { files($0.value, of: &service, at: owner) } ?? [:]
        for name in entries["x-unset"].map({ strings($0.value, "'x-unset' of \(owner)") }) ?? [] {
            variables[name] = .some(nil)
        }
        guard let node = entries["environment"]?.value, !node.isNull else { return variables }
        let what = "'environment' of \(owner)"
        for (name, entry) in mapping(node, what) ?? [:] {
            if !Self.isValid(variable: name) {
                report(
                    "'\(entry.written)' in \(what) is not a valid variable name", at: entry.key,
                    recovery: "write NAME=value, without spaces before the equals sign")
            } else if entry.value.isNull {
                variables[name] = .some(entry.value.source.environment[name])
            } else {
                variables[name] = .some(value(of: entry, what))
            }
        }
        return variables
    }

    private static func isValid(variable name: String) -> Bool {
        !name.isEmpty && !name.unicodeScalars.contains { $0 == "=" || $0 == "\0" || $0.properties.isWhitespace }
    }

    private func value(of entry: ComposeNode.Entry, _ what: String) -> String? {
        guard let scalar = scalar(entry.value, "'\(entry.written)' in \(what)") else { return nil }
        if scalar.isBoolean {
            // Different YAML parsers convert a boolean to different strings: yes, true, True or 1.
            report(
                "'\(entry.written)' in \(what) is a YAML boolean, but the value of a variable is a string",
                at: entry.value.location,
                recovery: "write it in quotes: \"\(scalar.written)\"")
        }
        return scalar.text
    }

    private func files(_ node: ComposeNode, of service: inout Service, at owner: String) -> [String: String?] {
        var variables: [String: String?] = [:]
        for node in list(node, "'env_file' of \(owner)") {
            let earlier = variables.compactMapValues(\.self)
            guard let more = file(node, "'env_file' of \(owner)", of: &service, earlier: earlier) else { continue }
            variables.merge(more) { _, last in last }
        }
        return variables
    }

    private func file(
        _ node: ComposeNode, _ what: String, of service: inout Service, earlier: [String: String]
    ) -> [String: String?]? {
        guard let options = mapping(node, "an entry of \(what)") else { return nil }
        findings.check(options, against: .envFile, in: what)
        let isRequired = bool("required", in: options, of: what) ?? true
        let format = value("format", in: options, of: what, recovery: "use raw, or remove the key") { text in
            text == "raw" ? EnvironmentFile.Format.raw : nil
        }
        guard let node = options["path"]?.value else {
            report("an entry of \(what) has no 'path'", at: node.location, recovery: "name the file to read")
            return nil
        }
        guard let path = self.path(node, "'path' of \(what)", expandsHome: true) else { return nil }
        service.watchedPaths.append(path.absolute)
        do {
            let text = try ComposeText.read(path.absolute)
            return EnvironmentFile(name: path.shown, findings: findings).variables(
                in: text, format: format ?? .standard, environment: node.source.environment, earlier: earlier)
        } catch {
            guard isRequired || error != .missing else { return nil }
            let recovery = error.recovery ?? "write 'required: false' if it may be missing"
            let message = "cannot read the file '\(node.scalar?.written ?? path.shown)'"
            if service.profiles.isEmpty {
                report(message, at: node.location, recovery: recovery)
            } else if service.obstacle == nil {
                service.obstacle = ComposeError(
                    code: "service-environment-file",
                    message: "\(node.location.file):\(node.location.line): \(message)",
                    recovery: recovery)
            }
            return nil
        }
    }

    private func dependencies(_ entries: ComposeNode.Entries, of owner: String) -> [Dependency] {
        let what = "'depends_on' of \(owner)"
        guard let node = entries["depends_on"]?.value, !node.isNull, let entries = mapping(node, what) else {
            return []
        }
        return entries.sorted { $0.key < $1.key }.compactMap { name, entry in
            let what = "'\(entry.written)' in \(what)"
            guard let options = entry.value.isNull ? [:] : mapping(entry.value, what) else { return nil }
            findings.check(options, against: .dependency, in: what)
            let all = Dependency.Condition.allCases.map(\.rawValue).joined(separator: ", ")
            return Dependency(
                on: name,
                condition: value("condition", in: options, of: what, recovery: "use one of \(all)") {
                    Dependency.Condition(rawValue: $0)
                } ?? .started,
                isRequired: bool("required", in: options, of: what) ?? true,
                restarts: bool("restart", in: options, of: what) ?? false)
        }
    }

    /// Reports dependencies on services that do not exist, and cycles of dependencies.
    func checkDependencies(of services: [Service], in entries: ComposeNode.Entries) {
        for (name, entry) in entries {
            let dependencies = entry.value.entries?["depends_on"]?.value.entries ?? [:]
            for (other, dependency) in dependencies where entries[other] == nil {
                let near = Spelling.suggestion(for: other, among: entries.keys)
                report(
                    "service '\(name)' depends on unknown service '\(dependency.written)'", at: dependency.key,
                    recovery: near)
            }
        }
        for cycle in DependencyGraph(services).cycles() {
            guard let entry = entries[cycle[0]] else { continue }
            let location = entry.value.entries?["depends_on"]?.key ?? entry.key
            report(DependencyGraph.message(cycle), at: location, recovery: DependencyGraph.cycleRecovery)
        }
    }

    /// Reads `healthcheck`. `test: [NOTIFY]` is not part of the compose specification: with it, the service itself
    /// announces that it is ready, as sd_notify(3) defines.
    private func readiness(_ entries: ComposeNode.Entries, of owner: String) -> Readiness {
        let what = "'healthcheck' of \(owner)"
        guard let node = entries["healthcheck"]?.value, !node.isNull, let check = mapping(node, what) else {
            return .started
        }
        findings.check(check, against: .healthcheck, in: what)
        var probe = probeWithoutTest(check, of: what)
        guard bool("disable", in: check, of: what) != true else { return .started }
        guard let test = check["test"]?.value else {
            report("\(what) has no 'test'", at: node.location, recovery: Self.testRecovery)
            return .started
        }
        switch strings(test, "'test' in \(what)") {
        case ["NONE"]:
            return .started
        case ["NOTIFY"]:
            checkNotified(check, of: what)
            return .notify(timeout: duration("start_period", in: check, of: what))
        case let words:
            guard let test = HealthProbe.Test(words) else {
                report("'test' in \(what) is not a valid test", at: test.location, recovery: Self.testRecovery)
                return .started
            }
            probe.test = test
            return .probe(probe)
        }
    }

    private static let testRecovery =
        "write [CMD, executable, argument …], [CMD-SHELL, command], [HTTP, 'http://HOST:PORT/PATH'], "
        + "[TCP, 'HOST:PORT'], [NOTIFY] or [NONE]"

    /// Reads the times and counts of a health check. As in docker, 0 means the default. The command of the result is
    /// empty.
    private func probeWithoutTest(_ check: ComposeNode.Entries, of what: String) -> HealthProbe {
        func time(_ key: String) -> Duration? {
            duration(key, in: check, of: what).flatMap { $0 == .zero ? nil : $0 }
        }
        var probe = HealthProbe(command: [])
        if let interval = time("interval") { probe.interval = interval }
        if let timeout = time("timeout") { probe.timeout = timeout }
        if let period = time("start_period") { probe.startPeriod = period }
        if let interval = time("start_interval") { probe.startInterval = interval }
        if let retries = count("retries", in: check, of: what, to: 1_000_000), retries > 0 { probe.retries = retries }
        return probe
    }

    private func checkNotified(_ check: ComposeNode.Entries, of what: String) {
        for key in ["interval", "timeout", "retries", "start_interval"] {
            guard let entry = check[key] else { continue }
            report(
                "'\(key)' in \(what) has no effect, because with [NOTIFY] the service announces itself", at: entry.key,
                recovery: "remove it; with 'x-watchdog: 10s' the service must also report that it is alive")
        }
    }

    /// Reads `restart`, and `deploy.restart_policy`, which takes precedence.
    ///
    /// - Parameter node: the value of `restart_policy`.
    private func restart(
        _ service: inout Service, _ entries: ComposeNode.Entries, policy node: ComposeNode?, of owner: String
    ) {
        let recovery = "use no, always, on-failure, on-failure:N or unless-stopped"
        let restart = value("restart", in: entries, of: owner, recovery: recovery) { RestartPolicy($0) }
        service.restart = restart ?? .no
        guard let node, !node.isNull else { return }
        let what = "'restart_policy' of \(owner)"
        guard let policy = mapping(node, what) else { return }
        findings.check(policy, against: .restartPolicy, in: what)
        let condition = value("condition", in: policy, of: what, recovery: "use none, on-failure or any") { text in
            let policies: [String: RestartPolicy] = [
                "none": .no, "on-failure": .onFailure(limit: nil), "any": .always(),
            ]
            return policies[text]
        }
        let limit = count("max_attempts", in: policy, of: what, to: 1_000_000).flatMap { $0 == 0 ? nil : $0 }
        service.restart = (condition ?? restart ?? .always()).limited(to: limit)
        service.backoff = backoff(policy, of: what)
    }

    /// Reads the pauses between restarts and the length of a good run; nil if none is given. With a `delay` above
    /// zero and without `x-max-delay`, each pause has this length, as in the compose specification. With `x-max-delay`,
    /// the pause doubles with each restart up to that maximum.
    private func backoff(_ policy: ComposeNode.Entries, of what: String) -> RestartBackoff? {
        let delay = duration("delay", in: policy, of: what).flatMap { $0 == .zero ? nil : $0 }
        let maximum = duration("x-max-delay", in: policy, of: what)
        let window = duration("window", in: policy, of: what)
        guard delay != nil || maximum != nil || window != nil else { return nil }
        let usual = RestartBackoff()
        let initial = delay ?? usual.initial
        return RestartBackoff(
            initial: initial, maximum: max(initial, maximum ?? delay ?? usual.maximum),
            resetAfter: window ?? usual.resetAfter)
    }
}

extension ComposeNode {
    /// True for a list that does not begin with an executable: the list is empty, or its first element is empty or not
    /// a plain value.
    fileprivate var namesNothing: Bool {
        guard let list else { return false }
        return list.first.map { $0.scalar?.text.isEmpty ?? true && $0.scalar?.isUnknown != true } ?? true
    }
}

extension HealthProbe.Test {
    /// The test that the words of `test` describe. Nil if they do not describe a test.
    fileprivate init?(_ words: [String]) {
        switch words.first {
        case "CMD" where words.count > 1 && !words[1].isEmpty: self = .command(Array(words.dropFirst()))
        case "CMD-SHELL" where words.count == 2: self = .command(["/bin/sh", "-c", words[1]])
        case "HTTP" where words.count == 2 && words[1].begins(with: "http://"): self = .http(words[1])
        case "TCP" where words.count == 2 && words[1].unicodeScalars.contains(":"): self = .tcp(words[1])
        default: return nil
        }
    }
}

extension RestartPolicy {
    fileprivate func limited(to limit: Int?) -> RestartPolicy {
        switch self {
        case .no: .no
        case .always: .always(limit: limit)
        case .unlessStopped: limit == nil ? self : .always(limit: limit)
        case .onFailure(let own): .onFailure(limit: limit ?? own)
        }
    }
}
