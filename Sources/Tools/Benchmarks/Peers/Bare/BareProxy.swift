internal import ZeroMQ

/// libzmq's own proxy, in place of the broker.
struct BareProxy {
    let directory: String

    func run(_ control: Control) throws {
        let frontend = try Socket(.xsub, options: BareSockets.options)
        let backend = try Socket(.xpub, options: BareSockets.options)
        try frontend.bind(BareSockets.publishing(directory))
        try backend.bind(BareSockets.subscribing(directory))
        try control.send()
        try Socket.proxy(frontend, backend)
    }
}
