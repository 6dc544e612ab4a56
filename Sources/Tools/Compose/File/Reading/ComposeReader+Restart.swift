import OrderedCollections

extension ComposeReader {
    /// `restart`, and what `deploy.restart_policy` says more precisely.
    ///
    /// - Parameter node: of `restart_policy`.
    func restart(_ service: inout Service, _ entries: ComposeNode.Entries, policy node: ComposeNode?, of place: String)
    {
        let hint = "use no, always, on-failure, on-failure:N or unless-stopped"
        let restart = value("restart", in: entries, of: place, hint: hint) { RestartPolicy($0) }
        service.restart = restart ?? .no
        guard let node, !node.isNull else { return }
        let what = "'restart_policy' of \(place)"
        guard let policy = mapping(node, what) else { return }
        findings.check(policy, against: .restartPolicy, in: what)
        let condition = value("condition", in: policy, of: what, hint: "use none, on-failure or any") { text in
            let policies: [String: RestartPolicy] = [
                "none": .no, "on-failure": .onFailure(limit: nil), "any": .always(),
            ]
            return policies[text]
        }
        let limit = count("max_attempts", in: policy, of: what, to: 1_000_000).flatMap { $0 == 0 ? nil : $0 }
        service.restart = (condition ?? restart ?? .always()).limited(to: limit)
        service.backoff = backoff(policy, of: what)
    }

    /// The specification's delay is the same each time; ours grows up to `x-max-delay`, if that is given.
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
