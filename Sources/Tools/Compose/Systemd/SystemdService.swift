import Support

/// The unit of one instance of a service, and the file of its variables.
struct SystemdService {
    private let service: Service
    private let instance: String
    private let export: SystemdExport
    private let offered: OfferedVariables

    /// - Throws: ``ComposeError`` `systemd-variable` if systemd cannot set a variable.
    init(service: Service, instance: String, replica: Int, export: SystemdExport) throws(ComposeError) {
        offered = OfferedVariables(
            project: export.project, name: export.name, bus: export.stack.bus, keys: export.stack.keys,
            ports: export.ports, service: service.name, replica: replica)
        self.service = offered.expanded(service)
        self.instance = instance
        self.export = export
        for name in service.environment.keys.sorted()
        where name.wholeMatch(of: #/[A-Za-z_][A-Za-z0-9_]*/#.byScalar) == nil {
            throw ComposeError(
                code: "systemd-variable", message: "service '\(service.name)': systemd cannot set a variable '\(name)'",
                recovery: "use letters, digits and '_' in its name")
        }
    }

    func files() throws(ComposeError) -> [SystemdFile] {
        let unit = try SystemdFile(
            unit: export.unit(of: instance), [("Unit", unitLines), ("Service", try serviceLines())])
        return [unit] + (variables.map { [$0] } ?? [])
    }

    // MARK: [Unit]

    private var unitLines: [(String, String)] {
        [("Description", "\(instance) of \(export.name)"), ("PartOf", export.target)] + dependencies + startLimit
    }

    /// The lines that make systemd start the dependencies first. If a required dependency fails to start, the service
    /// does not start; if another dependency fails, the service starts nevertheless.
    private var dependencies: [(String, String)] {
        func units(_ isWanted: (Dependency) -> Bool) -> [String] {
            service.dependencies.filter(isWanted).flatMap { export.units(of: $0.service) }
        }
        let lines = [
            ("After", units { _ in true }), ("Requires", units(\.isRequired)), ("Wants", units { !$0.isRequired }),
        ]
        return lines.filter { !$0.1.isEmpty }.map { ($0.0, $0.1.joined(separator: " ")) }
    }

    private var backoff: RestartBackoff { service.backoff ?? RestartBackoff() }

    /// systemd limits the number of starts in an interval. Here the interval is the maximum time that the allowed
    /// number of bad runs in a row can take.
    private var startLimit: [(String, String)] {
        switch service.restart {
        case .always(let limit?), .onFailure(let limit?):
            let interval = (backoff.resetAfter + backoff.initial) * (limit + 1)
            return [
                ("StartLimitIntervalSec", SystemdText.timeout(interval)), ("StartLimitBurst", String(limit + 1)),
            ]
        default:
            return [("StartLimitIntervalSec", "0")]
        }
    }

    // MARK: [Service]

    private func serviceLines() throws(ComposeError) -> [(String, String)] {
        let directory = try service.existingDirectory(in: export.stack.directory)
        let command = try commandLine(service.command, as: "command", in: directory)
        var lines = startLines
        lines += export.manager.directories(of: export.project)
        lines += [("ExecStart", command)] + (try probeLines(in: directory))
        lines += [("WorkingDirectory", SystemdText.path(directory))] + environmentLines
        lines += restartLines + stopLines
        return lines + export.manager.hardening(workingDirectory: directory)
    }

    private func commandLine(
        _ command: [String], as key: String, in directory: String
    ) throws(ComposeError) -> String {
        let path = try export.lookup.executable(
            of: command, as: ServiceKey(service: service.name, name: key), workingDirectory: directory,
            searchPath: searchPath)
        // systemd does not expand variables in the path of the executable.
        return ([SystemdText.word(path)] + command.dropFirst().map(SystemdText.argument)).joined(separator: " ")
    }

    private var isAwaited: Bool {
        export.stack.services.contains { other in
            other.dependencies.contains { $0.service == service.name && $0.condition == .completed }
        }
    }

    private var startLines: [(String, String)] {
        let (type, timeout) = start
        let notifies = type == "notify" || service.watchdog != nil
        return [("Type", type)] + (type == "oneshot" ? [("RemainAfterExit", "yes")] : [])
            // Any process of the service may send messages, as with the supervisor.
            + (notifies ? [("NotifyAccess", "all")] : [])
            + (timeout.map { [("TimeoutStartSec", $0)] } ?? [])
            + (service.watchdog.map { [("WatchdogSec", SystemdText.timeout($0))] } ?? [])
    }

    private var start: (type: String, timeout: String?) {
        if isAwaited { return ("oneshot", "infinity") }
        switch service.readiness {
        case .probe:
            // The script that runs the checks has its own limit.
            return ("exec", "infinity")
        case .notify(let timeout):
            return ("notify", SystemdText.timeout(timeout ?? SupervisorOptions.usualStartTimeout))
        case .started:
            let isNotified = export.stack.awaitsReadiness(of: service)
            return isNotified ? ("notify", SystemdText.timeout(SupervisorOptions.usualStartTimeout)) : ("exec", nil)
        }
    }

    /// The lines that wait until the service is healthy. systemd has no health checks, so the service is not checked
    /// again later.
    private func probeLines(in directory: String) throws(ComposeError) -> [(String, String)] {
        guard case .probe(let probe) = service.readiness, !isAwaited else { return [] }
        let shell = ["/bin/sh", "-c", probe.waitingScript, "probe"].map(SystemdText.argument).joined(separator: " ")
        return [("ExecStartPost", "\(shell) \(try commandLine(probe.test.command, as: "healthcheck", in: directory))")]
    }

    private var restartLines: [(String, String)] {
        let delay = ("RestartSec", backoff.initial.sumText)
        switch service.restart {
        case .no: return [("Restart", "no")]
        // A oneshot unit cannot have 'always'. If it ends with status 0, its work is done.
        case .always where isAwaited, .unlessStopped where isAwaited: return [("Restart", "on-failure"), delay]
        case .always, .unlessStopped: return [("Restart", "always"), delay]
        case .onFailure:
            // systemd counts an end by one of these signals as a success. For the supervisor, it is a failure, unless
            // the signal was part of a requested stop.
            let signals = ("RestartForceExitStatus", "SIGHUP SIGINT SIGTERM SIGPIPE")
            return [("Restart", "on-failure"), delay] + (isAwaited ? [] : [signals])
        }
    }

    private var stopLines: [(String, String)] {
        [
            ("KillMode", "control-group"), ("KillSignal", service.stopSignal.description),
            ("TimeoutStopSec", SystemdText.timeout(service.stopGracePeriod)),
        ]
    }

    // MARK: Variables

    private var searchPath: String? {
        service.environment["PATH"].flatMap(\.self) ?? export.environment["PATH"]
    }

    /// The lines that set the variables that are not secret, name the file of the other variables, and remove
    /// variables. `PATH` is one of the variables.
    private var environmentLines: [(String, String)] {
        let values = offered.values.merging(searchPath.map { ["PATH": $0] } ?? [:]) { own, _ in own }
        let pairs = values.sorted { $0.key < $1.key }
        let lines = pairs.map { ("Environment", SystemdText.word("\($0.key)=\($0.value)")) }
        let unset = service.environment.filter { $0.value == nil }.keys.sorted()
        let file = variables.map { [("EnvironmentFile", SystemdText.path("\(export.directory)/\($0.name)"))] } ?? []
        return lines + file + (unset.isEmpty ? [] : [("UnsetEnvironment", unset.joined(separator: " "))])
    }

    /// The file of the service's own variables; nil if it has none. The values may be secret, and all users can read
    /// units.
    private var variables: SystemdFile? {
        let pairs = service.environment.compactMapValues(\.self).sorted { $0.key < $1.key }
        guard !pairs.isEmpty else { return nil }
        return SystemdFile(
            name: "\(export.name).\(instance).env",
            text: pairs.map { SystemdText.assignment($0.key, $0.value) + "\n" }.joined(), isSecret: true)
    }
}

extension HealthProbe.Test {
    /// A command that makes the same test.
    fileprivate var command: [String] {
        switch self {
        case .command(let words): words
        case .http(let url): ["curl", "--fail", "--silent", "--show-error", "--output", "/dev/null", url]
        case .tcp:
            ["bash", "-c", "exec 3<>\"/dev/tcp/$0/$1\""] + (Endpoint(self).map { [$0.host, $0.port] } ?? [])
        }
    }
}

extension HealthProbe {
    /// The pause between two checks. The minimum is 1 ms, the smallest number of seconds with three decimals.
    private var pause: Duration { max(.milliseconds(1), min(interval, startInterval)) }

    private var attempts: Int {
        max(retries, Int(((startPeriod + interval * retries) / pause).rounded(.up)))
    }

    /// A script for `sh` that runs its arguments until they succeed, and gives up after about the time that the probe
    /// allows.
    var waitingScript: String {
        let each = "timeout \(timeout.secondsText) \"$@\""
        return "n=1; until \(each); do [ $n -lt \(attempts) ] || exit 1; n=$((n+1)); sleep \(pause.secondsText); done"
    }
}
