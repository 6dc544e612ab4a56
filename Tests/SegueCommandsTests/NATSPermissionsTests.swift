import BusAccess
import EventBus
import NATSPermissions
import Testing

@Suite("Permissions of a bus on NATS")
struct NATSPermissionsTests {
    @Test(
        "No permissions are written for a service whose name would change their syntax",
        arguments: ["x\n}, { nkey: UEVIL }", "a b", ""])
    func names(name: String) {
        let access = Access(services: [name: AccessEntry()])
        let error = #expect(throws: BusError.self) {
            try NATSPermissions(of: access, steward: "broker", namespace: "shop")
        }
        #expect(error?.code == .refused)
    }
}
