import Consuming
import HostileValues
import ServiceRuntime
import Testing

@testable import Services

@Suite("The messages of the services")
struct ServiceMessageTests {
    @Test("have no number that a service accepts if it is too large")
    func numbers() throws {
        let handlers = MusicHost.handlers(Prepared()) + [AuthorizationHost.handlers(Prepared())]
        let messages = handlers.flatMap(\.receives) + handlers.flatMap(\.sends)
        #expect(messages.count > 20)
        #expect(try messages.flatMap { try unboundedNumbers(of: $0) } == [])
    }
}
