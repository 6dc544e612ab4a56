internal import HTTPOperations
internal import HTTPTypes
internal import Hummingbird
internal import Support

extension Router<GatewayContext> {
    /// Creates the router: all paths of the gateway, and what each of them requires. `docs/page.md` describes them.
    static func gateway(_ routes: GatewayRoutes) -> Router<GatewayContext> {
        let router = Router(context: GatewayContext.self)
            .add(middleware: Answers())
            .add(middleware: OwnHeader())
        router.read("metrics", use: routes.metrics)
        // HEAD would use up the link.
        router.get("sign-in", use: routes.signIn)

        let page = router.group().add(middleware: SignInRequirement(browsers: routes.browsers))
        page.group("api")
            .get("stream/:stream", use: routes.stream)
            .post("stream/:stream/views", use: routes.views)
            .post("stream/:stream/device/:view", use: routes.device)
            .read("messages", use: routes.messages)
            .read("messages/:position", use: routes.message)
            .read("transient/:id", use: routes.transient)
            .read("story/:id", use: routes.story)
            .read("types", use: routes.types)
            .read("dead", use: routes.dead)
        page.group("api")
            .add(middleware: Publishing(isReadOnly: routes.isReadOnly))
            .post("messages", use: routes.publish)
            .post("dead", use: routes.settle)
        page.read("/", use: routes.asset)
        page.read("**", use: routes.asset)
        // The path `**` stands for those of the files.
        let files = routes.assets.paths.flatMap { [HTTPOperation(.get, $0), HTTPOperation(.head, $0)] }
        return router.add(
            middleware: MethodCheck(router.routes.map { HTTPOperation($0.method, $0.path.description) } + files))
    }
}

extension RouterMethods {
    /// Adds a route for GET and HEAD. ``Answers`` removes the body of the answer to HEAD.
    @discardableResult
    fileprivate func read(
        _ path: RouterPath, use answer: @escaping @Sendable (Request, Context) async throws -> Response
    ) -> Self {
        get(path, use: answer).head(path, use: answer)
    }
}
