import OrderedCollections
import YAMLText
import Yams

/// Builds the tree of one file from the nodes of the YAML parser.
///
/// As the compose specification demands, variables are expanded before files are merged, in values and not in keys.
struct ComposeTreeBuilder {
    /// The maximum number of nodes in one file after its aliases are resolved; a file with more is an error.
    private static let mostNodes = 100_000

    private let source: ComposeSource
    private let findings: ComposeFindings
    /// The names of the variables that the supervisor sets for services; see ``Interpolation``.
    private let offered: Set<String>
    private var path: [String] = []
    private var count = 0

    init(source: ComposeSource, findings: ComposeFindings, offered: Set<String>) {
        self.source = source
        self.findings = findings
        self.offered = offered
    }

    /// Parses a file's text, and reports syntax errors.
    ///
    /// - Returns: the root, which is a mapping. Nil if the text has no such root; the mistake has been reported.
    static func parse(_ text: String, file: String, findings: ComposeFindings) -> Node? {
        func report(_ message: String, line: Int = 1, recovery: String? = nil) {
            findings.report(message, at: ComposeLocation(file: file, line: line), recovery: recovery)
        }
        findings.begin(file)
        do {
            guard let root = try YAMLText.root(of: text) else {
                report("the file is empty", recovery: "list in 'services' the processes to run")
                return nil
            }
            if root.mapping != nil { return root }
            report("the file is not a mapping", line: root.mark?.line ?? 1, recovery: "write 'key: value' lines")
        } catch {
            report(error.problem, line: error.line, recovery: error.remedy)
        }
        return nil
    }

    /// - Parameters:
    ///   - root: the root of the file, which is a mapping.
    ///   - isWanted: returns true for the keys of the root that are to be read.
    mutating func file(_ root: Node, where isWanted: (String) -> Bool) -> ComposeNode {
        guard let mapping = root.mapping else { return node(root) }
        let wanted = mapping.filter { $0.key.scalar.map { isWanted($0.string) } ?? true }
        return node(.mapping(Node.Mapping(wanted, mapping.tag, mapping.style, mapping.mark))).canonicalFile
    }

    private mutating func node(_ node: Node) -> ComposeNode {
        var result = ComposeNode(source: source, line: node.mark?.line ?? 1, content: .null)
        guard admits(node) else { return result }
        result.content = content(of: node)
        switch node.tag.rawValue {
        case "!reset": result.override = .remove
        case "!override": result.override = .replace
        default: break
        }
        return result
    }

    /// Counts a node. Returns false if there are too many nodes. This is reported once, at the first node beyond the
    /// maximum.
    private mutating func admits(_ node: Node) -> Bool {
        count += 1
        if count == Self.mostNodes + 1 {
            report(
                "the file has more than \(Self.mostNodes) values with its aliases resolved; use fewer aliases", at: node
            )
        }
        return count <= Self.mostNodes
    }

    private mutating func content(of node: Node) -> ComposeNode.Content {
        switch node {
        case .scalar where node.tag == Tag(.null): .null
        case .scalar(let scalar): .scalar(expanded(scalar.string, isBoolean: node.tag == Tag(.bool), at: node))
        case .sequence(let sequence): .list(sequence.map { self.node($0) })
        case .mapping(let mapping): .mapping(entries(of: mapping))
        case .alias: .null
        }
    }

    private mutating func expanded(_ text: String, isBoolean: Bool, at node: Node) -> ComposeNode.Scalar {
        findings.record(variablesIn: text, of: source.environment, offered: offered)
        var interpolation = Interpolation(environment: source.environment, offered: offered)
        do {
            let value = try interpolation.expand(text)
            findings.record(unset: interpolation.unset)
            return .init(text: value, written: text, isBoolean: isBoolean)
        } catch {
            report("'\(path.joined(separator: "."))': \(error.message)", at: node)
            return .init(text: "", written: text, isUnknown: true)
        }
    }

    private mutating func entries(of mapping: Node.Mapping) -> ComposeNode.Entries {
        var own: ComposeNode.Entries = [:]
        var merged: ComposeNode.Entries = [:]
        for (key, value) in mapping {
            guard let name = key.scalar?.string else {
                report("a key of '\(path.joined(separator: "."))' is a list or a mapping; write a single word", at: key)
                continue
            }
            if name == "<<" {
                // The first of several merged mappings wins (YAML merge key type).
                for source in mergeSources(value) { merged.merge(source) { first, _ in first } }
            } else {
                path.append(name)
                let location = ComposeLocation(file: source.name, line: key.mark?.line ?? 1)
                own[name] = .init(key: location, written: name, value: node(value))
                path.removeLast()
            }
        }
        own.merge(merged) { own, _ in own }
        return own
    }

    private mutating func mergeSources(_ value: Node) -> [ComposeNode.Entries] {
        let sources = value.sequence.map(Array.init) ?? [value]
        return sources.compactMap { source in
            // The source is counted here, because a mapping that only merges other mappings has no nodes of its own.
            guard admits(source) else { return nil }
            if let mapping = source.mapping { return entries(of: mapping) }
            report("'<<' can only merge mappings; write an alias of a mapping, like '<<: *name'", at: source)
            return nil
        }
    }

    private func report(_ message: String, at node: Node) {
        findings.report(message, at: ComposeLocation(file: source.name, line: node.mark?.line ?? 1))
    }
}
