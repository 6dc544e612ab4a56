/// A key in the entry of a service.
package struct ServiceKey: Sendable, Codable, Hashable {
    let service: String
    let name: String
}
