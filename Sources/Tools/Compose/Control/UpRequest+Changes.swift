import Glibc

extension UpRequest {
    /// What it would come to where nothing runs yet.
    ///
    /// - Throws: ``ComposeError``.
    package func changesFromNothing(_ project: Project) throws(ComposeError) -> [Change] {
        var roster = try Roster(empty: project)
        return try roster.apply(.up(self))
    }
}

extension Roster {
    /// A project without services, supervised by this process.
    ///
    /// - Throws: ``ComposeError`` `no-proc`.
    init(empty project: Project) throws(ComposeError) {
        guard let identity = ProcessIdentity(of: getpid()) else {
            throw ComposeError(code: "no-proc", message: "/proc is not mounted", recovery: "supervising needs it")
        }
        let status = ProjectStatus(project: project.name, supervisor: identity, bus: project.busAddress)
        self.init(stack: Stack(directory: "/", services: []), status: status)
    }
}
