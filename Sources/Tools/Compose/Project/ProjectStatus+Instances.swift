extension ProjectStatus {
    /// The instances that services' or their own names mean; all when there are none.
    ///
    /// - Parameter project: whose status it is; its stack knows the services that were scaled to none.
    /// - Throws: ``ComposeError`` `unknown-service`, `stack-file`.
    package func instances(named names: [String], of project: Project) throws(ComposeError) -> [ServiceStatus] {
        try check(names, areIn: try names.isEmpty ? [] : knownNames(of: project))
        return names.isEmpty ? services : services.filter { names.contains($0.service) || names.contains($0.name) }
    }

    /// The names of all services, and of those of their instances that there are.
    func knownNames(of project: Project) throws(ComposeError) -> Set<String> {
        let stack = try project.savedStack()
        return Set(services.flatMap { [$0.service, $0.name] }).union(stack?.services.map(\.name) ?? [])
    }

    func check(_ names: [String], areIn known: Set<String>) throws(ComposeError) {
        guard let unknown = names.first(where: { !known.contains($0) }) else { return }
        let hint = unknown.nearest(of: known).map { "did you mean '\($0)'?" }
        throw ComposeError(
            code: "unknown-service", message: "project '\(project)' has no service '\(unknown)'",
            recovery: hint ?? "it has \(known.sorted().joined(separator: ", "))")
    }
}
