extension Stack {
    /// The part of the stack that takes part in a run.
    ///
    /// - Parameters:
    ///   - names: services asked for by name: these alone, with all that they depend on. None is asking for all.
    ///   - profiles: those that are active, as `*` all are; the profiles of a service asked for by name are, too.
    /// - Throws: ``ComposeError`` `unknown-service`; `inactive-dependency` when a service needs one whose profiles are
    ///   not active.
    package func selecting(_ names: [String] = [], profiles: some Sequence<String> = []) throws(ComposeError) -> Stack {
        let known = Set(services.map(\.name))
        if let unknown = names.first(where: { !known.contains($0) }) {
            let hint = unknown.nearest(of: known).map { "did you mean '\($0)'?" }
            throw ComposeError(
                code: "unknown-service", message: "there is no service '\(unknown)'",
                recovery: hint ?? "it has \(known.sorted().joined(separator: ", "))")
        }
        let implied = services.filter { names.contains($0.name) }.flatMap(\.profiles)
        let active = services(active: Set(profiles).union(implied))
        var selected = self
        selected.services = try services.filter { active.contains($0.name) }
            .map { service throws(ComposeError) in try service.depending(onlyOn: active) }
        guard !names.isEmpty else { return selected }
        let needed = DependencyGraph(selected.services).closure(of: names)
        selected.services.removeAll { !needed.contains($0.name) }
        return selected
    }

    private func services(active profiles: Set<String>) -> Set<String> {
        let active = services.filter { service in
            service.profiles.isEmpty || profiles.contains("*") || !profiles.isDisjoint(with: service.profiles)
        }
        return Set(active.map(\.name))
    }
}

extension Service {
    /// The service without its dependencies on what takes no part.
    fileprivate func depending(onlyOn active: Set<String>) throws(ComposeError) -> Service {
        if let lost = dependencies.first(where: { $0.isRequired && !active.contains($0.service) }) {
            throw ComposeError(
                code: "inactive-dependency",
                message: "service '\(name)' depends on '\(lost.service)', none of whose profiles is active",
                recovery: "name one of them with --profile, or say 'required: false' there")
        }
        var service = self
        service.dependencies.removeAll { !active.contains($0.service) }
        return service
    }
}
