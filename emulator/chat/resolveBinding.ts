import { ServiceError } from '../errors';
import type { Service } from '../service';
import { APPS, type App } from './apps';
import { CHAT_MODELS, DEFAULT_CHAT_MODEL, type ChatModel } from './models';

/** What answers a request: a model by itself, or one of the three things `app_code` can name. */
export interface Binding {
	readonly model: ChatModel;
	readonly app?: App;
}

function findModel(code: string): ChatModel {
	const model = CHAT_MODELS.find((row) => row.code === code);
	if (!model) throw new ServiceError(400, `model: there is no chat model ${code}`);
	return model;
}

function findApp(code: string, { busyApps, clock }: Service): App {
	const app = APPS.find((row) => row.code === code);
	if (!app) throw new ServiceError(402, `The application ${code} does not exist.`);
	if (app.access === 'private') {
		throw new ServiceError(
			403,
			'No access: an unpublished application answers its creator only.',
		);
	}
	const waitMs = app.access === 'busy' ? busyApps.waitMs(code, clock.now()) : 0;
	if (waitMs > 0) {
		throw new ServiceError(429, 'The call-frequency limit of the application was hit.', {
			'retry-after': String(Math.ceil(waitMs / 1000)),
		});
	}
	return app;
}

/**
 * Finds what a request is bound to (spec 2.1).
 * @throws ServiceError 400 unknown model, 402 unknown application, 403 private, 429 busy
 */
export function resolveBinding(
	appCode: string | undefined,
	modelCode: string | undefined,
	service: Service,
): Binding {
	if (!appCode) return { model: findModel(modelCode ?? DEFAULT_CHAT_MODEL) };

	const app = findApp(appCode, service);
	const chosen = app.kind === 'assistant' ? undefined : modelCode;
	return { app, model: findModel(chosen ?? app.model) };
}
