/// The stack as a compose file: everything resolved, so that reading it gives the same stack again.
extension Stack: Encodable {
    private enum CodingKeys: String, CodingKey {
        case name, services
        case ports = "x-ports"
        case clients = "x-clients"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(name, forKey: .name)
        if !ports.isEmpty { try container.encode(ports, forKey: .ports) }
        if !clients.isEmpty {
            try container.encode(clients.map { $0.map(\.composeEscaped) }, forKey: .clients)
        }
        var services = container.nestedContainer(keyedBy: ComposeName.self, forKey: .services)
        for service in self.services {
            let directory = service.workingDirectory ?? directory
            var service = service
            service.workingDirectory = directory.hasPrefix("/") ? directory : "\(self.directory)/\(directory)"
            try services.encode(service, forKey: ComposeName(service.name))
        }
    }
}
