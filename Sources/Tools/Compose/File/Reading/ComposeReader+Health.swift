import OrderedCollections

extension ComposeReader {
    /// `test: [NOTIFY]` is ours: the service itself tells when it is ready, as sd_notify defines it.
    func readiness(_ entries: ComposeNode.Entries, of place: String) -> Readiness {
        let what = "'healthcheck' of \(place)"
        guard let node = entries["healthcheck"]?.value, !node.isNull, let check = mapping(node, what) else {
            return .started
        }
        findings.check(check, against: .healthcheck, in: what)
        let probe = probe(check, of: what)
        guard bool("disable", in: check, of: what) != true else { return .started }
        guard let test = check["test"]?.value else {
            report("\(what) has no 'test'", at: node.place, hint: Self.testHint)
            return .started
        }
        let words = strings(test, "'test' in \(what)")
        switch words.first {
        case "NONE" where words.count == 1:
            return .started
        case "NOTIFY" where words.count == 1:
            checkNotified(check, of: what)
            return .notify(timeout: duration("start_period", in: check, of: what))
        case "CMD" where words.count > 1 && !words[1].isEmpty:
            return .probe(probe(Array(words.dropFirst())))
        case "CMD-SHELL" where words.count == 2:
            return .probe(probe(["/bin/sh", "-c", words[1]]))
        default:
            report("'test' in \(what) is not a test", at: test.place, hint: Self.testHint)
            return .started
        }
    }

    private static let testHint = "write [CMD, executable, argument …], [CMD-SHELL, text], [NOTIFY] or [NONE]"

    /// - Returns: a probe with all but the command. As in docker, 0 stands for what is usual.
    private func probe(_ check: ComposeNode.Entries, of what: String) -> ([String]) -> HealthProbe {
        func given(_ key: String) -> Duration? {
            duration(key, in: check, of: what).flatMap { $0 == .zero ? nil : $0 }
        }
        var probe = HealthProbe(command: [])
        if let interval = given("interval") { probe.interval = interval }
        if let timeout = given("timeout") { probe.timeout = timeout }
        if let period = given("start_period") { probe.startPeriod = period }
        if let interval = given("start_interval") { probe.startInterval = interval }
        if let retries = count("retries", in: check, of: what, to: 1_000_000), retries > 0 { probe.retries = retries }
        return { command in
            probe.command = command
            return probe
        }
    }

    private func checkNotified(_ check: ComposeNode.Entries, of what: String) {
        for key in ["interval", "timeout", "retries", "start_interval"] {
            guard let entry = check[key] else { continue }
            report(
                "'\(key)' in \(what) says nothing: the service announces itself, nobody asks it", at: entry.key,
                hint: "'x-watchdog: 10s' has it tell again and again that it is alive")
        }
    }
}
