import Foundation

/// The values of the variables in a stack's files: from the process's own environment, then from env files.
struct ComposeEnvironment: Sendable {
    private(set) var values: [String: String]
    /// The file in which a variable was set, by the variable's name. Variables of the process's environment are not
    /// included.
    private var files: [String: String] = [:]

    init(_ variables: [String: String]) {
        values = variables
    }

    subscript(name: String) -> String? { values[name] }

    /// The source of a variable: `environment`, or the path of a file; nil if the variable is not set.
    func origin(of name: String) -> String? {
        values[name] == nil ? nil : files[name] ?? "environment"
    }

    /// This environment and a file's variables. Variables that are already set keep their values.
    func fillingIn(_ variables: [String: String], from file: String) -> ComposeEnvironment {
        var result = self
        for (name, value) in variables where values[name] == nil { result.set(name, to: value, from: file) }
        return result
    }

    /// - Parameter value: nil to unset the variable.
    mutating func set(_ name: String, to value: String?, from file: String) {
        values[name] = value
        files[name] = value == nil ? nil : file
    }

    /// This environment and the variables of the folder's `.env`, if there is one and it is not a folder. Variables
    /// that are already set keep their values. A file that cannot be read is reported.
    func fillingIn(dotEnvIn folder: ComposePath, findings: ComposeFindings) -> ComposeEnvironment {
        let path = folder.resolving(".env")
        do {
            return fillingIn(
                from: [.init(path: path, text: try ComposeText.read(path.absolute))], findings: findings)
        } catch  where error == .missing || error == .folder {
            return self
        } catch {
            let location = ComposeLocation(file: path.shown, line: 1)
            findings.report("cannot read the file", at: location, recovery: error.recovery)
            return self
        }
    }

    /// This environment and the variables of env files. Variables that are already set keep their values. If several
    /// files set a variable, the last of these files counts.
    func fillingIn(from files: [ComposeLoader.Text], findings: ComposeFindings) -> ComposeEnvironment {
        var variables: [String: (value: String, file: String)] = [:]
        for file in files {
            let read = EnvironmentFile(name: file.path.shown, findings: findings)
                .variables(in: file.text, environment: self, earlier: variables.mapValues(\.value))
            for (name, value) in read {
                if let value { variables[name] = (value, file.path.shown) }
            }
        }
        return variables.reduce(into: self) { result, variable in
            guard self[variable.key] == nil else { return }
            result.set(variable.key, to: variable.value.value, from: variable.value.file)
        }
    }
}
