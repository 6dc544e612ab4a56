/// What a broker did that it must not.
package struct FuzzFailure: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
