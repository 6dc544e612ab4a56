import Foundation

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

    /// With the variables of `.env` in a folder, if there is such a file.
    func adding(usualFileIn folder: ComposePath, findings: ComposeFindings) -> ComposeEnvironment {
        let path = folder.resolving(".env")
        do {
            return adding([.init(path: path, text: try ComposeText.read(path.absolute))], findings: findings)
        } catch {
            if error == .tooLong {
                let place = ComposePlace(file: path.shown, line: 1)
                findings.report("cannot read the file", at: place, hint: error.hint)
            }
            return self
        }
    }

    /// With the variables of env files; the last file that sets one wins.
    func adding(_ files: [ComposeLoader.Text], findings: ComposeFindings) -> ComposeEnvironment {
        var variables: [String: (value: String, file: String)] = [:]
        for file in files {
            let read = EnvironmentFile(name: file.path.shown, findings: findings)
                .variables(in: file.text, environment: self, earlier: variables.mapValues(\.value))
            for (name, value) in read { variables[name] = value.map { ($0, file.path.shown) } ?? variables[name] }
        }
        return variables.reduce(into: self) { result, variable in
            guard self[variable.key] == nil else { return }
            result.set(variable.key, to: variable.value.value, from: variable.value.file)
        }
    }
}
