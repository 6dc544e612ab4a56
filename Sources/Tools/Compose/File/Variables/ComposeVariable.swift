/// A variable that the files of a stack refer to.
package struct ComposeVariable: Sendable, Equatable, Encodable {
    package let name: String
    /// Where its value comes from: a file's path, `environment`, or `supervisor`, which sets it when a service starts;
    /// `nil` when it is not set.
    package private(set) var origin: String?
    /// What stands in for it where it is not set, as the first reference that has one says it.
    package private(set) var standIn: String?
    /// Some reference says that it must be set.
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
