import EventBus
import NATSPermissions
import Testing

@Suite("Permissions of a bus on NATS")
struct NATSPermissionsTests {
    @Test(
        "No permissions are written for a service whose name would change their syntax",
        arguments: ["x\n}, { nkey: UEVIL }", "a b", ""])
    func names(name: String) {
        let service = NATSPermissions.Service(name: name, receives: [], sends: [], consumers: [])
        let error = #expect(throws: BusError.self) {
            try NATSPermissions(of: [service], announcements: [], reports: [], steward: "broker", namespace: "shop")
        }
        #expect(error?.code == .refused)
    }
}
