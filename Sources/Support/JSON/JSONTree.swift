internal import Foundation

/// The values that have been encoded so far. A type may encode its members in any order, and those of several objects in
/// turns, so the members are sorted at the end.
struct JSONTree {
    /// A range of ``text``.
    private struct Slice {
        var start: UInt32 = 0
        var end: UInt32 = 0

        var range: Range<Int> { Int(start)..<Int(end) }
    }

    private enum Kind: UInt8 {
        /// Nothing has been encoded, or it could not be encoded.
        case none
        /// A value without others in it.
        case text
        case array
        case object
    }

    private struct Node {
        var kind = Kind.none
        /// The array or the object that contains it.
        let parent: Int32
        /// The first and the last node in an array or an object, and the next one in the same array or object. 0 if there
        /// is none.
        var first: Int32 = 0
        var last: Int32 = 0
        var next: Int32 = 0
        /// The number of nodes in an array or an object.
        var count: Int32 = 0
        /// The name of a member with its quotes and a colon. Empty for an element.
        var name = Slice()
        /// The name of a member without escapes.
        var key = Slice()
        /// A value without others in it.
        var value = Slice()
    }

    /// The node of the whole value.
    static let root = 0

    /// The names and values as JSON, in the order in which they were encoded.
    private var text: [UInt8] = []
    private var nodes: [Node] = []

    init() {
        text.reserveCapacity(512)
        nodes.reserveCapacity(32)
        nodes.append(Node(parent: 0))
    }

    /// True if nothing has been encoded.
    var isEmpty: Bool { nodes[Self.root].kind == .none }

    // MARK: Adding values

    /// Adds a member to an object.
    /// - Returns: The node of its value.
    mutating func addMember(_ name: String, to object: Int) -> Int {
        var node = Node(parent: Int32(object))
        let start = text.count
        text.append(UInt8(ascii: "\""))
        let isPlain = text.append(escaping: name)
        text.append(UInt8(ascii: "\""))
        text.append(UInt8(ascii: ":"))
        node.name = slice(from: start)
        if isPlain {
            node.key = Slice(start: node.name.start + 1, end: node.name.end - 2)
        } else {
            let start = text.count
            text.append(contentsOf: name.utf8)
            node.key = slice(from: start)
        }
        return add(node)
    }

    /// Adds an element to an array.
    /// - Returns: Its node.
    mutating func addElement(to array: Int) -> Int { add(Node(parent: Int32(array))) }

    private mutating func add(_ node: Node) -> Int {
        let (parent, index) = (Int(node.parent), Int32(nodes.count))
        nodes.append(node)
        let last = Int(nodes[parent].last)
        if last == 0 { nodes[parent].first = index } else { nodes[last].next = index }
        nodes[parent].last = index
        nodes[parent].count += 1
        return Int(index)
    }

    /// The node of a member with this name that was added before. Nil if there is none.
    func member(_ name: String, of object: Int) -> Int? {
        members(of: object).last { nodes[$0].kind != .none && text[nodes[$0].key.range].elementsEqual(name.utf8) }
    }

    /// The number of elements of an array.
    func count(of array: Int) -> Int { Int(nodes[array].count) }

    /// Makes a node an object or an array, or keeps it if it is one.
    mutating func makeObject(_ node: Int) { nodes[node].kind = .object }
    mutating func makeArray(_ node: Int) { nodes[node].kind = .array }

    /// Gives a node a value without others in it.
    mutating func write(literal: StaticString, to node: Int) {
        write(to: node) { $0.append(literal) }
    }

    mutating func write(string: String, to node: Int) {
        write(to: node) { $0.append(string: string) }
    }

    mutating func write(json: some Collection<UInt8>, to node: Int) {
        write(to: node) { $0.append(contentsOf: json) }
    }

    private mutating func write(to node: Int, _ append: (inout [UInt8]) -> Void) {
        let start = text.count
        append(&text)
        nodes[node].kind = .text
        nodes[node].value = slice(from: start)
    }

    private func slice(from start: Int) -> Slice { Slice(start: UInt32(start), end: UInt32(text.count)) }

    /// Makes a node an object without members if nothing was encoded to it.
    mutating func finish(_ node: Int) {
        if nodes[node].kind == .none && node != Self.root { nodes[node].kind = .object }
    }

    /// Removes the value of a node that could not be encoded.
    mutating func clear(_ node: Int) { nodes[node].kind = .none }

    // MARK: The place of a node

    /// The names and indices that lead to a node.
    func codingPath(to node: Int) -> [any CodingKey] {
        var path: [any CodingKey] = []
        var node = node
        while node != Self.root {
            let parent = Int(nodes[node].parent)
            path.append(
                nodes[parent].kind == .object
                    ? JSONKey(stringValue: String(decoding: text[nodes[node].key.range], as: UTF8.self))
                    : JSONKey(intValue: members(of: parent).prefix { $0 != node }.count))
            node = parent
        }
        return path.reversed()
    }

    // MARK: The result

    /// The JSON. Nil if arrays and objects are nested more than `depthLimit` levels deep.
    func bytes(depthLimit: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count + nodes.count + 2)
        return append(Self.root, levels: depthLimit, to: &bytes) ? bytes : nil
    }

    /// - Returns: False if there are not enough levels.
    private func append(_ node: Int, levels: Int, to bytes: inout [UInt8]) -> Bool {
        let kind = nodes[node].kind
        append(nodes[node].name, to: &bytes)
        guard kind == .array || kind == .object else {
            append(nodes[node].value, to: &bytes)
            return true
        }
        guard levels > 0 else { return false }
        bytes.append(UInt8(ascii: kind == .array ? "[" : "{"))
        var isFirst = true
        func appendNext(_ node: Int) -> Bool {
            if nodes[node].kind == .none { return true }
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            return append(node, levels: levels - 1, to: &bytes)
        }
        if kind == .array || isSorted(node) {
            var next = Int(nodes[node].first)
            while next != 0 {
                guard appendNext(next) else { return false }
                next = Int(nodes[next].next)
            }
        } else {
            for member in sortedMembers(of: node) where !appendNext(member) { return false }
        }
        bytes.append(UInt8(ascii: kind == .array ? "]" : "}"))
        return true
    }

    private func append(_ slice: Slice, to bytes: inout [UInt8]) {
        text.withUnsafeBufferPointer { bytes.append(contentsOf: UnsafeBufferPointer(rebasing: $0[slice.range])) }
    }

    /// The nodes in an array or an object, in the order in which they were added.
    private func members(of node: Int) -> [Int] {
        var members: [Int] = []
        members.reserveCapacity(Int(nodes[node].count))
        var next = Int(nodes[node].first)
        while next != 0 {
            members.append(next)
            next = Int(nodes[next].next)
        }
        return members
    }

    /// True if the names of an object's members are different and in order.
    private func isSorted(_ object: Int) -> Bool {
        var node = Int(nodes[object].first)
        while node != 0 {
            let next = Int(nodes[node].next)
            if next != 0 && order(node, next) >= 0 { return false }
            node = next
        }
        return true
    }

    /// The members of an object in the order of the bytes of their names. Of members with the same name the last one
    /// counts.
    private func sortedMembers(of object: Int) -> [Int] {
        var sorted = members(of: object).filter { nodes[$0].kind != .none }
        sorted.sort { left, right in
            let order = order(left, right)
            return order == 0 ? left < right : order < 0
        }
        for index in sorted.indices.dropLast().reversed() where order(sorted[index], sorted[index + 1]) == 0 {
            sorted.remove(at: index)
        }
        return sorted
    }

    /// Less than 0 if the name of the first member is before that of the second one, 0 if they are equal.
    private func order(_ left: Int, _ right: Int) -> Int {
        let (left, right) = (nodes[left].key.range, nodes[right].key.range)
        return text.withUnsafeBytes { text in
            guard let start = text.baseAddress else { return 0 }
            let order = memcmp(start + left.lowerBound, start + right.lowerBound, min(left.count, right.count))
            return order == 0 ? left.count - right.count : Int(order)
        }
    }
}
