import Yams

/// A YAML mapping whose keys are known, read field by field with the line of whatever is wrong.
struct CatalogueMapping {
    private let node: Node
    private let mapping: Node.Mapping
    private let file: String
    private let what: String

    /// - Throws: `CatalogueError` when the node is no mapping, or has a key that nobody reads: a misspelt one would
    ///   otherwise be ignored in silence.
    init(_ node: Node, file: String, what: String, keys: Set<String>) throws {
        guard let mapping = node.mapping else {
            let problem = "\(what) must be a mapping with \(keys.sorted().joined(separator: ", "))"
            throw CatalogueError.malformed(file: file, line: node.mark?.line, problem: problem)
        }
        for key in mapping.keys {
            let name = key.string ?? ""
            guard keys.contains(name) else {
                let problem = "\(what) has no key '\(name)'; it has \(keys.sorted().joined(separator: ", "))"
                throw CatalogueError.malformed(file: file, line: key.mark?.line, problem: problem)
            }
        }
        self.node = node
        self.mapping = mapping
        self.file = file
        self.what = what
    }

    func required(_ key: String) throws -> Node {
        guard let value = mapping[key] else { throw fault(node, "\(what) lacks '\(key)'") }
        return value
    }

    func string(_ key: String, default fallback: String? = nil) throws -> String {
        if let fallback, mapping[key] == nil { return fallback }
        let value = try required(key)
        guard let string = value.string, !string.isEmpty else { throw fault(value, "'\(key)' must be a text") }
        return string
    }

    func flag(_ key: String, default fallback: Bool) throws -> Bool {
        guard let value = mapping[key] else { return fallback }
        guard let flag = value.bool else { throw fault(value, "'\(key)' must be true or false") }
        return flag
    }

    func percentage(_ key: String) throws -> Int? {
        guard let value = mapping[key] else { return nil }
        guard let number = value.int, (0...100).contains(number) else {
            throw fault(value, "'\(key)' must be a number from 0 to 100")
        }
        return number
    }

    func list(_ key: String, default fallback: [Node]? = nil) throws -> [Node] {
        if let fallback, mapping[key] == nil { return fallback }
        let value = try required(key)
        guard let sequence = value.sequence else { throw fault(value, "'\(key)' must be a list") }
        return Array(sequence)
    }

    private func fault(_ node: Node, _ problem: String) -> CatalogueError {
        .malformed(file: file, line: node.mark?.line, problem: problem)
    }
}
