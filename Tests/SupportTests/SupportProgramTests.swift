import Foundation
import Support
import Testing

/// An order that another program has written.
struct BeansOrder: Codable {
    /// Decoding refuses a number below 0 or above 2^53 - 1.
    @BoundedCount var bags: Int
    /// Any JSON.
    var details: JSONValue
}

/// A line about an order in JSON.
func receipt(for json: Data) throws -> String {
    let order = try JSONValue(parsing: json).decode(BeansOrder.self)
    let name = order.details.value(at: "customer.name")?.stringValue ?? "a guest"
    return "\(Timestamp.text(of: Timestamp.now)): \(order.bags) bags for \(name)"
}

@Suite("Program of the page of Support")
struct SupportProgramTests {
    @Test("An order has a receipt, and is refused if its number is out of range")
    func orders() throws {
        let order = #"{"bags":2,"details":{"customer":{"name":"Ada"}}}"#
        #expect(try receipt(for: Data(order.utf8)).hasSuffix("Z: 2 bags for Ada"))
        #expect(try receipt(for: Data(#"{"bags":1,"details":null}"#.utf8)).hasSuffix("Z: 1 bags for a guest"))
        #expect(throws: DecodingError.self) { try receipt(for: Data(#"{"bags":-1,"details":null}"#.utf8)) }
    }
}
