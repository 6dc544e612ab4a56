extension Project {
    /// The services that were wanted when a supervisor last wrote it down, for one that takes its place.
    ///
    /// - Parameter services: those that are wanted in any case.
    package func lastSelection(adding services: [String] = []) throws(ComposeError) -> Selection {
        let last = try ProjectStatus.read(self)?.services ?? []
        let named = last.filter { services.contains($0.name) }.map(\.service)
        let wanted = last.filter(\.order.isWanted).map(\.service)
        // Of an instance's name only its service is known to a new supervisor.
        let known = services.filter { name in !last.contains { $0.name == name && $0.service != name } }
        return Selection(Set(wanted + named + known).sorted())
    }
}
