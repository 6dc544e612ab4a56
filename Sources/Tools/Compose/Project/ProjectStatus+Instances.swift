extension ProjectStatus {
    /// The instances that services' or their own names mean; all when there are none.
    ///
    /// - Throws: ``ComposeError`` `unknown-service`.
    package func instances(named names: [String]) throws(ComposeError) -> [ServiceStatus] {
        try check(names, areIn: Set(services.flatMap { [$0.service, $0.name] }))
        return names.isEmpty ? services : services.filter { names.contains($0.service) || names.contains($0.name) }
    }

    func check(_ names: [String], areIn known: Set<String>) throws(ComposeError) {
        guard let unknown = names.first(where: { !known.contains($0) }) else { return }
        let hint = unknown.nearest(of: known).map { "did you mean '\($0)'?" }
        throw ComposeError(
            code: "unknown-service", message: "project '\(project)' has no service '\(unknown)'",
            recovery: hint ?? "it has \(known.sorted().joined(separator: ", "))")
    }
}
