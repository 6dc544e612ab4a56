import OrderedCollections
import Support

/// Collects the variables and the mistakes found in a stack's files.
final class ComposeFindings {
    private var mistakes: OrderedSet<ComposeFileError.Mistake> = []
    private var files: OrderedSet<String> = []
    private(set) var variables: [String: ComposeVariable] = [:]
    /// Names of variables that are used as `$V` or `${V}` and are not set. Each becomes an empty string.
    private(set) var unset: Set<String> = []

    /// The locations of the keys that are checked when a service starts.
    private(set) var locations: [ServiceKey: ComposeLocation] = [:]

    /// Begins a file. Errors list the mistakes in the order in which their files were begun.
    func begin(_ file: String) {
        files.append(file)
    }

    func report(_ message: String, at location: ComposeLocation, recovery: String? = nil) {
        files.append(location.file)
        mistakes.append(.init(file: location.file, line: location.line, message: message, recovery: recovery))
    }

    /// - Parameters:
    ///   - text: a value as written in the file.
    ///   - environment: the values of its variables.
    ///   - offered: the names of the variables that the supervisor sets.
    func record(variablesIn text: String, of environment: ComposeEnvironment, offered: Set<String> = []) {
        for reference in Interpolation.references(in: text) {
            let name = reference.name
            variables[name, default: ComposeVariable(name: name)]
                .add(reference, origin: offered.contains(name) ? "supervisor" : environment.origin(of: name))
        }
    }

    func record(_ key: ServiceKey, at location: ComposeLocation) {
        locations[key] = location
    }

    func record(unset names: Set<String>) {
        unset.formUnion(names)
    }

    /// Reports keys that are not supported. Keys that begin with `x-` are always allowed.
    func check(_ entries: ComposeNode.Entries, against keys: ComposeKeys, in what: String) {
        for (name, entry) in entries where !keys.known.contains(name) && !name.begins(with: "x-") {
            if let recovery = keys.containersOnly[name] {
                report("'\(name)' in \(what) makes no sense without containers", at: entry.key, recovery: recovery)
            } else if let recovery = keys.unsupported[name] {
                report("'\(name)' in \(what) is not supported", at: entry.key, recovery: recovery)
            } else {
                let near = Spelling.suggestion(for: name, among: keys.known)
                let all = "the known keys are \(keys.known.sorted().joined(separator: ", "))"
                report("unknown key '\(name)' in \(what)", at: entry.key, recovery: near ?? all)
            }
        }
    }

    /// - Throws: ``ComposeFileError`` with all mistakes, if there are any: grouped by file, sorted by line.
    func throwMistakes() throws(ComposeFileError) {
        guard !mistakes.isEmpty else { return }
        throw ComposeFileError(
            mistakes: files.flatMap { file in
                mistakes.filter { $0.file == file }.sorted { $0.line < $1.line }
            })
    }
}

/// All mistakes in a stack's files.
package struct ComposeFileError: Error, Sendable, Equatable, CustomStringConvertible {
    package struct Mistake: Sendable, Hashable, CustomStringConvertible {
        package let file: String
        /// Counted from 1.
        package let line: Int
        package let message: String
        package let recovery: String?

        package var description: String {
            "\(file):\(line): \(message)" + (recovery.map { "; \($0)" } ?? "")
        }
    }

    package let code = "compose-file"
    /// Grouped by file, sorted by line.
    package let mistakes: [Mistake]

    package var description: String {
        mistakes.map(\.description).joined(separator: "\n")
    }
}

/// A variable that the files of a stack refer to.
package struct ComposeVariable: Sendable, Equatable, Encodable {
    package let name: String
    /// The source of the variable's value: a file's path, `environment`, or `supervisor` if the supervisor sets it when
    /// a service starts; nil if it is not set.
    package private(set) var origin: String?
    /// The variable's default, as written in the first reference that has a default; nil if no reference has a default.
    package private(set) var standIn: String?
    /// True if any reference requires the variable to be set.
    package private(set) var isRequired = false

    private enum CodingKeys: String, CodingKey {
        case name
        case origin = "source"
        case standIn = "default"
        case isRequired = "required"
    }

    init(name: String) {
        self.name = name
    }

    mutating func add(_ reference: Interpolation.Reference, origin: String?) {
        self.origin = self.origin ?? origin
        standIn = standIn ?? reference.standIn
        isRequired = isRequired || reference.isRequired
    }
}
