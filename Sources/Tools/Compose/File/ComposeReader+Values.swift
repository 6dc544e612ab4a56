import Yams

extension ComposeReader {
    typealias Entries = [String: (key: Node, value: Node)]

    /// The entries of a mapping, YAML merge keys (`<<: *anchor`) resolved.
    mutating func mapping(_ node: Node, _ what: String) -> Entries? {
        guard let mapping = node.mapping else {
            report("\(what) is not a mapping", at: node, hint: "write 'key: value' lines")
            return nil
        }
        var merged: Entries = [:]
        var own: Entries = [:]
        for (key, value) in mapping {
            guard let name = key.scalar?.string else {
                report("a key of \(what) is not a plain word", at: key)
                continue
            }
            if name == "<<" {
                for source in value.sequence.map(Array.init) ?? [value] {
                    // The first of several merged mappings wins (YAML merge key type).
                    merged.merge(self.mapping(source, what) ?? [:]) { first, _ in first }
                }
            } else {
                own[name] = (key, value)
            }
        }
        return merged.merging(own) { _, own in own }
    }

    /// Reports the keys that do not belong there; `x-` extensions always may.
    mutating func check(_ entries: Entries, against keys: ComposeKeys, in what: String) {
        for (name, entry) in entries where !keys.known.contains(name) && !name.hasPrefix("x-") {
            if let hint = keys.containersOnly[name] {
                report("'\(name)' in \(what) makes no sense without containers", at: entry.key, hint: hint)
            } else if let hint = keys.unsupported[name] {
                report("'\(name)' in \(what) is not supported", at: entry.key, hint: hint)
            } else {
                let near = name.nearest(of: keys.known).map { "did you mean '\($0)'?" }
                let all = "known here: \(keys.known.sorted().joined(separator: ", "))"
                report("unknown key '\(name)' in \(what)", at: entry.key, hint: near ?? all)
            }
        }
    }

    /// A scalar's text with its variables expanded. Keys never come here: they are not interpolated.
    mutating func string(_ node: Node, _ what: String) -> String? {
        guard let scalar = node.scalar else {
            report("\(what) is not a plain value", at: node)
            return nil
        }
        do {
            return try interpolation.expand(scalar.string)
        } catch {
            report("\(what): \(error.message)", at: node)
            return nil
        }
    }

    mutating func strings(_ node: Node, _ what: String) -> [String]? {
        guard let sequence = node.sequence else {
            report("\(what) is not a list", at: node)
            return nil
        }
        return sequence.compactMap { string($0, "an entry of \(what)") }
    }

    mutating func duration(_ node: Node, _ what: String) -> Duration? {
        guard let text = string(node, what) else { return nil }
        let duration = Duration(compose: text)
        if duration == nil {
            report("\(what) '\(text)' is not a duration", at: node, hint: "write it like 10s, 1m30s or 500ms")
        }
        return duration
    }

    /// A mapping, or a list of `KEY=value`; a key without a value has none (`nil`).
    mutating func pairs(_ node: Node, _ what: String) -> [String: String?] {
        var result: [String: String?] = [:]
        if let sequence = node.sequence {
            for entry in sequence {
                guard let text = string(entry, "an entry of \(what)") else { continue }
                let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                result[String(parts[0])] = .some(parts.count > 1 ? String(parts[1]) : nil)
            }
        } else if let entries = mapping(node, what) {
            for (name, entry) in entries {
                let isNull = entry.value.tag == Tag(.null)
                result[name] = .some(isNull ? nil : string(entry.value, "'\(name)' in \(what)"))
            }
        }
        for name in result.keys where name.isEmpty || name.contains("=") || name.contains("\0") {
            report("'\(name)' in \(what) is not a variable's name", at: node)
        }
        return result
    }
}
