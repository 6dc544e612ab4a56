/// The texts of a header, by attribute.
struct HeaderFields {
    private var texts: [String?] = Array(repeating: nil, count: Attributes.CodingKeys.allCases.count)

    subscript(key: Attributes.CodingKeys) -> String? { texts[key.index] }

    /// Attributes that are not known are ignored.
    mutating func set(_ name: String, to text: String) {
        guard let key = Attributes.CodingKeys(rawValue: name) else { return }
        texts[key.index] = text
    }
}
