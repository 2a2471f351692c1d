import { createApp } from 'vue'

import Record from './Record.vue'

createApp(Record).mount('#root')
