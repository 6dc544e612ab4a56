extension Service {
    static let nameRule = "use letters, digits, '.', '_' and '-', beginning with a letter or digit"

    /// The rule of the compose specification, narrowed so that the name also serves as that of a file.
    static func isValid(name: String) -> Bool {
        name.wholeMatch(of: #/[a-zA-Z0-9][a-zA-Z0-9._-]*/#) != nil
    }
}

extension Stack {
    /// What the reader of a file checks, for stacks that were built in code.
    ///
    /// - Throws: ``ComposeError`` that names the first service at fault.
    func validate() throws(ComposeError) {
        for service in services {
            guard Service.isValid(name: service.name) else {
                throw invalid("'\(service.name)' is not a service name", Service.nameRule)
            }
            guard service.command.first?.isEmpty == false else {
                throw invalid("service '\(service.name)' has no command", nil)
            }
        }
        let names = Set(services.map(\.name))
        guard names.count == services.count else { throw invalid("two services have the same name", nil) }
        if let name = ambiguousInstance { throw invalid("two services have a process called '\(name)'", nil) }
        if let port = ports.first(where: { OfferedVariables.portVariable($0) == nil }) {
            throw invalid("'\(port)' is not a port's name", "use letters, digits, '-' and '_'")
        }
        if let problem = DependencyGraph(services).problems(known: names).first {
            throw invalid(problem.message, problem.hint)
        }
    }

    /// A name that belongs to a replica of one service and to another service.
    var ambiguousInstance: String? {
        var seen: Set<String> = []
        return services.flatMap(\.instances).first { !seen.insert($0).inserted }
    }

    private func invalid(_ message: String, _ recovery: String?) -> ComposeError {
        ComposeError(code: "invalid-stack", message: message, recovery: recovery)
    }
}
