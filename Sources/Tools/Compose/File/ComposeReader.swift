import Yams

/// Walks the nodes of one compose file and collects every mistake on the way, instead of stopping at the first.
struct ComposeReader {
    let file: String
    var interpolation: Interpolation
    private(set) var mistakes: [ComposeFileError.Mistake] = []

    init(file: String, environment: [String: String]) {
        self.file = file
        interpolation = Interpolation(environment: environment)
    }

    mutating func read(_ text: String, directory: String) throws(ComposeFileError) -> Stack {
        let root = parse(text)
        var stack = Stack(directory: directory, services: [])
        if let root, let entries = mapping(root, "the file") {
            check(entries, against: .root, in: "the file")
            stack.name = entries["name"].flatMap { name($0.value) }
            stack.ports = entries["x-ports"].map { ports($0.value) } ?? []
            interpolation.offered = OfferedVariables.names(ports: stack.ports)
            stack.clients = entries["x-clients"].map { clients($0.value) } ?? []
            if let services = entries["services"] {
                stack.services = self.services(services.value)
            } else {
                report("there is no 'services'", at: root, hint: "list the processes to run under it")
            }
        }
        try throwMistakes()
        return stack
    }

    /// Reads nothing but the project's name.
    mutating func readName(_ text: String) throws(ComposeFileError) -> String? {
        let project = parse(text)?.mapping?["name"].flatMap { name($0) }
        try throwMistakes()
        return project
    }

    private func throwMistakes() throws(ComposeFileError) {
        guard mistakes.isEmpty else {
            throw ComposeFileError(mistakes: mistakes.sorted { $0.line < $1.line })
        }
    }

    mutating func report(_ message: String, at node: Node, hint: String? = nil) {
        report(message, line: node.mark?.line ?? 1, hint: hint)
    }

    private mutating func report(_ message: String, line: Int, hint: String? = nil) {
        mistakes.append(.init(file: file, line: line, message: message, hint: hint))
    }

    private mutating func parse(_ text: String) -> Node? {
        do {
            if let root = try Yams.compose(yaml: text) { return root }
            report("the file is empty", line: 1, hint: "list the processes to run under 'services'")
        } catch let error as YamlError {
            report(syntax: error)
        } catch {
            report("not YAML: \(error)", line: 1)
        }
        return nil
    }

    private mutating func report(syntax error: YamlError) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            report("not YAML: \(problem)", line: mark.line, hint: "look at the indentation and quotes there")
        case .duplicatedKeysInMapping(let duplicates, let context):
            let keys = duplicates.sorted().map { "'\($0)'" }.joined(separator: ", ")
            report("\(keys) stands twice in the mapping that begins here", line: context.mark.line)
        default:
            report("not YAML: \(error)", line: 1)
        }
    }

    private mutating func name(_ node: Node) -> String? {
        guard let name = string(node, "name") else { return nil }
        guard ProjectName.isValid(name) else {
            report("'\(name)' is not a project name", at: node, hint: ProjectName.rule)
            return nil
        }
        return name
    }

    private mutating func ports(_ node: Node) -> [String] {
        guard let names = strings(node, "x-ports") else { return [] }
        for name in names where OfferedVariables.portVariable(name) == nil {
            report("'\(name)' in 'x-ports' is not a name", at: node, hint: "use letters, digits, '-' and '_'")
        }
        return names
    }
}
