/// What the variables in a stack's files refer to: a process's own variables, then those of env files.
struct ComposeEnvironment: Sendable {
    private var values: [String: String]
    /// The files that variables come from; the others are the process's.
    private var files: [String: String] = [:]

    init(_ variables: [String: String]) {
        values = variables
    }

    subscript(name: String) -> String? { values[name] }

    /// - Returns: `environment`, or the file's path; `nil` for one that is not set.
    func origin(of name: String) -> String? {
        values[name] == nil ? nil : files[name] ?? "environment"
    }

    /// With a file's variables where there was none: what the outside says wins.
    func adding(_ variables: [String: String], from file: String) -> ComposeEnvironment {
        var result = self
        for (name, value) in variables where values[name] == nil { result.set(name, to: value, from: file) }
        return result
    }

    /// - Parameter value: `nil` when the file says that it is not set.
    mutating func set(_ name: String, to value: String?, from file: String) {
        values[name] = value
        files[name] = value == nil ? nil : file
    }
}
