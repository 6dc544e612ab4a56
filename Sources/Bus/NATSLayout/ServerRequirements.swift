package import EventBus

/// What a server of NATS needs for a bus.
package enum ServerRequirements {
    /// The oldest version that reliably refuses the results of a process that has lost its claim.
    package static let oldestVersion = "2.12.1"
    /// The smallest limit of a message (`max_payload`), in bytes.
    package static let smallestPayload = 256 << 10

    /// The error for a server that cannot be used; nil for any other.
    /// - Parameters:
    ///   - isNewEnough: False if the version is older than ``oldestVersion``; nil if it is not known.
    ///   - place: The address of the server.
    package static func refusal(
        version: String?, isNewEnough: Bool?, maximumPayload: Int, at place: String
    ) -> BusError? {
        if isNewEnough == false {
            return BusError(
                .address,
                "the NATS server at \(place) has version \(version ?? "?"); version \(oldestVersion) or newer is needed, "
                    + "because older ones do not fence durable consumers")
        }
        guard maximumPayload >= smallestPayload else {
            return BusError(
                .address,
                "the NATS server at \(place) takes messages of \(maximumPayload) bytes only; set max_payload: 9MB in its "
                    + "configuration (at least 256KB)")
        }
        return nil
    }
}
