import EventBus
import Testing

@testable import NATSLayout

@Suite("Address of a bus on NATS")
struct NATSAddressTests {
    @Test(
        "An address has hosts, ports and a namespace",
        arguments: [
            ("nats://", "nats://localhost:4222/SEGUE"),
            ("nats:///TEAM_1", "nats://localhost:4222/TEAM_1"),
            ("nats://host", "nats://host:4222/SEGUE"),
            ("tls://a.example:1,b-2:65535,10.0.0.1/x-Y", "tls://a.example:1,b-2:65535,10.0.0.1:4222/x-Y"),
            ("nats://[::1],[fe80::1.2.3.4]:77", "nats://[::1]:4222,[fe80::1.2.3.4]:77/SEGUE"),
            ("nats://a,a:4222,b", "nats://a:4222,b:4222/SEGUE"),
        ])
    func valid(text: String, canonical: String) throws {
        let address = try NATSAddress(text)
        #expect(address.description == canonical)
        #expect(try NATSAddress(address.description) == address)
        #expect(address.urls.allSatisfy { $0.hasPrefix(address.isEncrypted ? "tls://" : "nats://") })
        #expect(address.urls.count == address.servers.count)
    }

    @Test(
        "An invalid address is refused in one line with a remedy",
        arguments: [
            "", "nats:", "nats:/a", "NATS://a", "http://a", "nats://a:0", "nats://a:65536", "nats://a:", "nats://a:+1",
            "nats://a,", "nats://,a", "nats://::1", "nats://[::1", "nats://[::1]4222", "nats://[1]", "nats://[g::1]",
            "nats://a b", "nats://a/", "nats://a/1A", "nats://a/A.B", "nats://a/A/B", "nats://a/*",
            "nats://a/SEGUE_DOC",
            "nats://a/X_DEAD", "nats://a/\(String(repeating: "A", count: 33))", "nats://ä", "nats://a?token=SECRET",
            "nats://a/SEGUE?token=SECRET", "nats://a\nb", "nats://a#SECRET",
            "nats://\((0...64).map { "h\($0)" }.joined(separator: ","))",
        ])
    func invalid(text: String) {
        #expect {
            try NATSAddress(text)
        } throws: { error in
            guard let error = error as? BusError else { return false }
            return error.code == .address && !error.message.contains("SECRET") && !error.message.contains("\n")
                && !error.message.isEmpty
        }
    }

    @Test(
        "An address with user information is refused without repeating it",
        arguments: [
            "nats://SECRET@a", "nats://user:SECRET@a:4222", "tls://a,user:SECRET@b/NAME", "nats://user:SEC/SECRET@a",
            "nats://a/SECRET@b", "nats://SECRET:@[::1]", "nats://us/SECRET:SECRET@a,SECRET@b",
        ])
    func userInformation(text: String) {
        #expect {
            try NATSAddress(text)
        } throws: { error in
            guard let message = (error as? BusError)?.message else { return false }
            return !message.contains("SECRET") && message.contains("SEGUE_BUS_CREDS")
        }
    }
}
