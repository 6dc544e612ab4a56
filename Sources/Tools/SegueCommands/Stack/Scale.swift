internal import ArgumentParser
internal import Compose

/// `web=3`: how many processes of a service there shall be.
struct Scale: Sendable, Hashable, ExpressibleByArgument {
    let service: String
    let number: Int

    init?(argument: String) {
        let parts = argument.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, let number = Int(parts[1]), (0...1000).contains(number) else {
            return nil
        }
        service = String(parts[0])
        self.number = number
    }
}

extension [Scale] {
    /// The last word on each service counts.
    var byService: [String: Int] {
        Dictionary(map { ($0.service, $0.number) }) { _, last in last }
    }
}

extension Stack {
    /// - Throws: ``ComposeError`` `unknown-service`.
    func scaled(_ numbers: [Scale]) throws -> Stack {
        var stack = self
        for (name, number) in numbers.byService {
            guard let index = services.firstIndex(where: { $0.name == name }) else {
                throw CommandError(
                    code: "unknown-service", "there is no service '\(name)' to scale",
                    recovery: "there is \(services.map(\.name).joined(separator: ", "))")
            }
            stack.services[index].replicas = number
        }
        return stack
    }
}
