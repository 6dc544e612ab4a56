internal import Support

/// The headers of a message, in the order in which they are sent.
package struct NATSHeaders: Hashable, Sendable {
    private var all: [(name: String, value: String)] = []

    package init() {}

    /// - Parameter fields: Headers with different names.
    package init(_ fields: [(name: String, value: String)]) {
        all = fields
    }

    /// The value of a header. Names are case-sensitive.
    package subscript(name: String) -> String? {
        get { all.first { $0.name == name }?.value }
        set {
            all.removeAll { $0.name == name }
            if let newValue { all.append((name, newValue)) }
        }
    }

    package var isEmpty: Bool { all.isEmpty }

    /// The headers by name. Of two headers with the same name the first one counts.
    package var fields: [String: String] {
        Dictionary(all.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    package static func == (left: NATSHeaders, right: NATSHeaders) -> Bool {
        left.all.elementsEqual(right.all, by: ==)
    }

    package func hash(into hasher: inout Hasher) {
        for field in all {
            hasher.combine(field.name)
            hasher.combine(field.value)
        }
    }
}

extension NATSHeaders: ExpressibleByDictionaryLiteral, Sequence {
    /// Of two headers with the same name the last one counts.
    package init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { self[name] = value }
    }

    package func makeIterator() -> some IteratorProtocol<(name: String, value: String)> {
        all.makeIterator()
    }
}

extension NATSHeaders {
    /// Parses the headers as JetStream stores them: `NATS/1.0`, then one line for each header.
    init(stored bytes: some Sequence<UInt8>) {
        for line in String(decoding: Array(bytes), as: UTF8.self).lines.dropFirst() {
            guard let (name, value) = line.cut(at: ":") else { continue }
            self[String(name)] = String(Substring(value.unicodeScalars.drop { $0 == " " }))
        }
    }
}
