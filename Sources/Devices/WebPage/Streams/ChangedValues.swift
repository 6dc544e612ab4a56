package import Support

/// JSON values by key. An update contains the values that have changed since the update before.
package struct ChangedValues: Sendable {
    /// The values in JSON.
    private var values: [String: [UInt8]] = [:]
    private var changed: Set<String> = []

    package init() {}

    package var isEmpty: Bool { changed.isEmpty }

    /// Sets a value. An equal value changes nothing.
    package mutating func set(_ key: String, _ value: [UInt8]) {
        guard values[key] != value else { return }
        values[key] = value
        changed.insert(key)
    }

    /// Forgets the values of the other keys.
    package mutating func keep(only keys: Set<String>) {
        values = values.filter { keys.contains($0.key) }
        changed.formIntersection(keys)
    }

    /// Removes and returns the changes as members of a JSON object, in alphabetical order.
    package mutating func drain() -> [(key: String, value: [UInt8])] {
        defer { changed = [] }
        return changed.sorted().compactMap { key in values[key].map { (key, $0) } }
    }
}

/// Writes a JSON object from members that are JSON already.
package struct ObjectText {
    private var bytes: [UInt8] = [UInt8(ascii: "{")]
    private var isFirst = true

    package init() {}

    package mutating func add(_ name: String, _ value: [UInt8]) {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        bytes += JSONValue.string(name).description.utf8
        bytes.append(UInt8(ascii: ":"))
        bytes += value
    }

    package mutating func add(_ name: String, _ value: JSONValue) {
        add(name, Array(value.description.utf8))
    }

    package var closed: [UInt8] { bytes + [UInt8(ascii: "}")] }

    package static func array(_ elements: [[UInt8]]) -> [UInt8] {
        [UInt8(ascii: "[")] + elements.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
    }
}
