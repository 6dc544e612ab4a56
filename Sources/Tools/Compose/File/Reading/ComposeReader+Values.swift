import OrderedCollections

extension ComposeReader {
    func mapping(_ node: ComposeNode, _ what: String) -> ComposeNode.Entries? {
        if let entries = node.entries { return entries }
        report("\(what) is not a mapping", at: node.place, hint: "write 'key: value' lines")
        return nil
    }

    /// - Returns: nothing where nothing is given.
    func list(_ node: ComposeNode, _ what: String) -> [ComposeNode] {
        if node.isNull { return [] }
        if node.list == nil { report("\(what) is not a list", at: node.place) }
        return node.list ?? []
    }

    func strings(_ node: ComposeNode, _ what: String) -> [String] {
        list(node, what).compactMap { scalar($0, "an entry of \(what)")?.text }
    }

    /// - Returns: `nil` when there is none, which has been reported.
    func scalar(_ node: ComposeNode, _ what: String) -> ComposeNode.Scalar? {
        guard let scalar = node.scalar else {
            report("\(what) is not a plain value", at: node.place)
            return nil
        }
        guard !scalar.isUnknown else { return nil }
        guard !scalar.text.contains("\0") else {
            report("\(what) contains a NUL character", at: node.place)
            return nil
        }
        return scalar
    }

    /// The value under a key, if it is there and not null.
    ///
    /// - Parameter read: makes a value of its text, or `nil` when that is wrong.
    func value<Value>(
        _ key: String, in entries: ComposeNode.Entries, of place: String, hint: String, _ read: (String) -> Value?
    ) -> Value? {
        guard let node = entries[key]?.value, !node.isNull else { return nil }
        let what = "'\(key)' of \(place)"
        guard let scalar = scalar(node, what) else { return nil }
        let value = read(scalar.text)
        if value == nil { report("\(what) is '\(scalar.written)'", at: node.place, hint: hint) }
        return value
    }

    func duration(_ key: String, in entries: ComposeNode.Entries, of place: String) -> Duration? {
        value(key, in: entries, of: place, hint: "write a duration like 10s, 1m30s or 500ms") { Duration(compose: $0) }
    }

    func bool(_ key: String, in entries: ComposeNode.Entries, of place: String) -> Bool? {
        value(key, in: entries, of: place, hint: "write true or false") { text in
            switch text.lowercased() {
            case "true", "yes", "on", "y": true
            case "false", "no", "off", "n": false
            default: nil
            }
        }
    }

    func count(
        _ key: String, in entries: ComposeNode.Entries, of place: String, from least: Int = 0, to most: Int
    ) -> Int? {
        value(key, in: entries, of: place, hint: "write a number from \(least) to \(most)") { text in
            Int(text).flatMap { (least...most).contains($0) ? $0 : nil }
        }
    }
}
