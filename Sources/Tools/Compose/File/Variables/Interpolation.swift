/// The variable references of the compose specification: `$V`, `${V}`, `${V:-default}`, `${V-default}`,
/// `${V:?error}`, `${V?error}`, `${V:+other}`, `${V+other}` and `$$`, nested as one likes.
///
/// What the supervisor offers to services, such as a port, is known only when they start: such a reference counts as
/// set, and stays in the text as `${V}` for ``OfferedVariables`` to expand.
struct Interpolation {
    struct Failure: Error, Equatable {
        let message: String
    }

    let environment: ComposeEnvironment
    /// The names that the supervisor will set.
    var offered: Set<String>
    /// Variables that were asked for, are not set and have no default: each becomes empty, with a warning.
    private(set) var unset: Set<String> = []

    init(environment: ComposeEnvironment, offered: Set<String> = []) {
        self.environment = environment
        self.offered = offered
    }

    /// No person nests this deep, and each level takes a part of the stack.
    static let deepest = 32

    mutating func expand(_ text: some StringProtocol) throws(Failure) -> String {
        var rest = Substring(text)
        var result = ""
        while let character = rest.popFirst() {
            if character == "$" {
                result += try reference(&rest)
            } else {
                result.append(character)
            }
        }
        return result
    }

    private mutating func reference(_ rest: inout Substring) throws(Failure) -> String {
        switch rest.first {
        case "$":
            rest.removeFirst()
            return "$"
        case "{":
            rest.removeFirst()
            return try braced(&rest)
        default:
            let name = Self.takeName(&rest)
            guard !name.isEmpty else {
                throw Failure(message: "a lone '$' is not a variable reference (write '$$' for a dollar sign)")
            }
            return value(of: name)
        }
    }

    private mutating func braced(_ rest: inout Substring) throws(Failure) -> String {
        let name = Self.takeName(&rest)
        guard !name.isEmpty else { throw Failure(message: "'${' is not followed by a variable's name") }
        let operation = Self.takeOperation(&rest)
        guard let operand = operation == nil ? "" : Self.takeOperand(&rest) else {
            throw Failure(message: "more than \(Self.deepest) references are nested")
        }
        guard rest.popFirst() == "}" else {
            throw Failure(message: "'${\(name)' is not closed, or has an unknown operator")
        }
        guard let operation else { return value(of: name) }
        let set = known(name).flatMap { operation.emptyIsUnset && $0.isEmpty ? nil : $0 }
        // The operand is expanded only where it is used: `${A:-${B:?}}` must not fail when A is set.
        switch (operation.kind, set) {
        case (.alternative, nil): return ""
        case (.alternative, _?): return try expand(operand)
        case (_, let set?): return set
        case (.default, nil): return try expand(operand)
        case (.required, nil):
            let reason = try expand(operand)
            throw Failure(message: "required variable '\(name)' is not set" + (reason.isEmpty ? "" : ": \(reason)"))
        }
    }

    private mutating func value(of name: String) -> String {
        if let value = known(name) { return value }
        unset.insert(name)
        return ""
    }

    /// What is offered hides a variable of the same name, as it does for the service.
    private func known(_ name: String) -> String? {
        offered.contains(name) ? "${\(name)}" : environment[name]
    }
}
